"""Writes hdf5_earliest.h5 and hdf5_latest.h5 beside this page: what others write, in the oldest and the newest format. h5py 3.7, HDF5 1.10.8."""
import h5py
import numpy as np


def fill(f):
    f["x"] = np.sin(np.arange(300) / 7.0)
    f["i"] = np.arange(6, dtype="i4").reshape(2, 3)
    f["f"] = np.float32(1.5)
    f["g/h/be"] = np.arange(5, dtype=">f8")
    f["bool"] = np.array([True, False])
    f.create_dataset("z", data=np.zeros((50, 40)), compression="gzip", shuffle=True, fletcher32=True)
    f.create_dataset("grow", data=np.arange(10.0), maxshape=(None,), chunks=(4,))
    f["s"] = "text"
    f["c"] = np.array([1 + 2j])
    f["cube"] = np.zeros((2, 2, 2))
    f["empty"] = h5py.Empty("f8")
    f.create_dataset("lzf", data=np.arange(1000), compression="lzf")
    f.attrs["title"] = "häh"
    f.attrs["k"] = 3
    f.attrs["arr"] = np.arange(3)
    f["x"].attrs["unit"] = "m"
    f["soft"] = h5py.SoftLink("/x")
    f["loop"] = h5py.SoftLink("/loop")
    f["g/up"] = f["/"]
    f["ext"] = h5py.ExternalLink("other.h5", "/x")


for name, version in (("earliest", None), ("latest", "latest")):
    with h5py.File("../hdf5_%s.h5" % name, "w", libver=version) as f:
        fill(f)
