# Imports a unit in a process without Lua, with NumPy's linear algebra where that is there: LIBRARY GUID RESOURCES REFERENCE.
# Prints the value of a Real output after 20 steps of 0.1.
import ctypes
import sys

try:
    import numpy
    numpy.linalg.solve(numpy.eye(50) * 2, numpy.ones(50))
except ImportError:
    pass

library, guid, resources, reference = sys.argv[1:]
real, boolean, instance = ctypes.c_double, ctypes.c_int, ctypes.c_void_p
Logger = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)


class Callbacks(ctypes.Structure):
    _fields_ = [("logger", Logger)] + [(name, ctypes.c_void_p) for name in ("allocate", "free", "finished", "environment")]


def log(environment, name, status, category, message):
    print("log", status, category, message)


fmi = ctypes.CDLL(library)
fmi.fmi2Instantiate.restype = instance
fmi.fmi2SetupExperiment.argtypes = [instance, boolean, real, real, boolean, real]
fmi.fmi2EnterInitializationMode.argtypes = fmi.fmi2ExitInitializationMode.argtypes = [instance]
fmi.fmi2DoStep.argtypes = [instance, real, real, boolean]
fmi.fmi2GetReal.argtypes = [instance, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
fmi.fmi2FreeInstance.argtypes = [instance]
callbacks = Callbacks(Logger(log), None, None, None, None)
c = fmi.fmi2Instantiate(b"plain", 1, guid.encode(), resources.encode(), ctypes.byref(callbacks), 0, 0)
assert fmi.fmi2SetupExperiment(c, 0, 0, 0, 1, 2) == 0
assert fmi.fmi2EnterInitializationMode(c) == 0 and fmi.fmi2ExitInitializationMode(c) == 0
for k in range(20):
    assert fmi.fmi2DoStep(c, k * 0.1, 0.1, 1) == 0
value = (real * 1)()
assert fmi.fmi2GetReal(c, (ctypes.c_uint * 1)(int(reference)), 1, value) == 0
print(value[0].hex())
fmi.fmi2FreeInstance(c)
