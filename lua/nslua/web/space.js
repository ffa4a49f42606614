/*
** space.js: the page of an animation in space, drawn by three.js: bodies as instances of their shapes, planes, contact
** forces as arrows, force chains, shadows, a grid. It has the clock and the controls of player.js; the pointer turns,
** shifts (right button, two fingers) and zooms the view, a click follows a body. Keys: W A S D turn, + and - zoom, F
** follows the next body, C shows forces, H chains, G the grid, 0 the first view.
*/

/* Colours from dark blue over green to yellow (viridis), for values from 0 to 1. */
nslua.viridis = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99],
  [170, 220, 50], [253, 231, 37]];
nslua.shade = (share) => {
  const list = nslua.viridis, at = nslua.clamp(share, 0, 1) * (list.length - 1), i = Math.min(Math.floor(at), list.length - 2);
  return list[i].map((low, c) => (low + (list[i + 1][c] - low) * (at - i)) / 255);
};

/* ---- shapes ---- */

/*
** The triangles of a solid: its faces moved out by the rounding, a cylinder around each edge and a ball around each
** corner. Corners, edges and faces as film/space.lua packs them; a face is its number of corners, and these. round: the
** sides, of four corners, are those of a cylinder, whose normals at corners are between those of the sides.
*/
nslua.solidGeometry = ({ corners, edges, faces, radius, round }) => {
  const T = window.THREE, at = nslua.numbers(corners), positions = [], normals = [];
  const corner = (i) => new T.Vector3(at[3 * i], at[3 * i + 1], at[3 * i + 2]);
  const put = (p, n) => { positions.push(p.x, p.y, p.z); normals.push(n.x, n.y, n.z); };
  const add = (geometry, matrix) => {
    const flat = geometry.toNonIndexed(), p = flat.attributes.position, n = flat.attributes.normal;
    for (let i = 0; i < p.count; i++)
      put(new T.Vector3().fromBufferAttribute(p, i).applyMatrix4(matrix), new T.Vector3().fromBufferAttribute(n, i).transformDirection(matrix));
  };
  const list = nslua.numbers(faces), smooth = [], flat = [];
  for (let i = 0; i < list.length; i += list[i] + 1) {
    const numbers = Array.from(list.subarray(i + 1, i + 1 + list[i])), ring = numbers.map(corner), n = new T.Vector3();
    for (let k = 0; k < ring.length; k++) n.add(new T.Vector3().crossVectors(ring[k], ring[(k + 1) % ring.length]));
    flat.push({ numbers, ring, n: n.normalize() });
    if (round && ring.length === 4) for (const k of numbers) (smooth[k] = smooth[k] ?? new T.Vector3()).add(n);
  }
  for (const { numbers, ring, n } of flat)
    for (let k = 1; k + 1 < ring.length; k++)
      for (const j of [0, k, k + 1])
        put(ring[j].clone().addScaledVector(n, radius), round && ring.length === 4 ? smooth[numbers[j]].clone().normalize() : n);
  if (radius > 0) {
    const fine = at.length <= 6, ball = new T.SphereBufferGeometry(radius, fine ? 20 : 10, fine ? 12 : 6).rotateX(Math.PI / 2);
    for (let i = 0; i < at.length / 3; i++) add(ball, new T.Matrix4().setPosition(corner(i)));
    const pairs = nslua.numbers(edges);
    for (let i = 0; i < pairs.length; i += 2) {
      const [from, to] = [corner(pairs[i]), corner(pairs[i + 1])], way = to.clone().sub(from), length = way.length();
      const turn = new T.Quaternion().setFromUnitVectors(new T.Vector3(0, 1, 0), way.normalize());
      const tube = new T.CylinderBufferGeometry(radius, radius, length, fine ? 20 : 10, 1, true);
      add(tube, new T.Matrix4().compose(from.add(to).multiplyScalar(0.5), turn, new T.Vector3(1, 1, 1)));
    }
  }
  const geometry = new T.BufferGeometry();
  geometry.setAttribute("position", new T.Float32BufferAttribute(positions, 3));
  geometry.setAttribute("normal", new T.Float32BufferAttribute(normals, 3));
  return geometry;
};

/*
** The parts, as film/drawing.lua writes them: { body (0: the world), paint, geometry, numbers (offset, scale, and the
** radius of the ball around the body's origin that holds it) }; and the radius of such a ball for each body.
*/
nslua.readParts = (packed, count, bodies) => {
  const bytes = new nslua.Decoder(nslua.numbers(packed)), float = new DataView(new ArrayBuffer(4));
  const parts = [], kinds = [], radii = new Float32Array(bodies);
  let before = { body: 0, paint: 0, numbers: [0, 0, 0, 0, 0, 0, 0] };
  for (let k = 0; k < count; k++) {
    const body = before.body + bytes.whole("body"), paint = bytes.natural("paint " + before.paint), old = bytes.natural("kind");
    let kind = kinds[kinds.length - old];
    if (!old) {
      kind = { geometry: bytes.natural("geometry"), numbers: [] };
      for (let i = 0; i < 7; i++) {
        const as = bytes.natural("as " + (i + 1));
        if (!as) float.setUint32(0, bytes.natural("number " + (i + 1)));
        kind.numbers.push(as === 1 ? before.numbers[i] : as === 2 ? kind.numbers[i - 1] : float.getFloat32(0));
      }
      kinds.push(kind);
    }
    parts.push(before = { body, paint, ...kind });
    if (body) radii[body - 1] = Math.max(radii[body - 1], kind.numbers[6]);
  }
  return { parts, radii };
};

/* A ball whose stripes show how it turns. */
nslua.ballGeometry = (count) => count > 2000 ? new window.THREE.SphereBufferGeometry(1, 12, 8) : new window.THREE.SphereBufferGeometry(1, 24, 16);
nslua.stripes = () => {
  const T = window.THREE, data = new Uint8Array(8 * 2 * 3);
  for (let i = 0; i < 16; i++) data.fill((i >> 1 & 1) ^ (i >> 3) ? 255 : 205, 3 * i, 3 * i + 3);
  const texture = new T.DataTexture(data, 8, 2, T.RGBFormat);
  texture.needsUpdate = true;
  return texture;
};

/* An arrow of length 1 along z, with the thickness 1 of its shaft; and a rod. */
nslua.arrowGeometry = () => {
  const T = window.THREE, points = [[0, 0], [0.5, 0], [0.5, 0.72], [1.4, 0.72], [0, 1]].map(([x, y]) => new T.Vector2(x, y));
  return new T.LatheBufferGeometry(points, 8).rotateX(Math.PI / 2);
};
nslua.rodGeometry = () => new window.THREE.CylinderBufferGeometry(0.5, 0.5, 1, 8, 1, true).rotateX(Math.PI / 2).translate(0, 0, 0.5);

/* ---- planes ---- */

/* The convex polygon less what is behind the plane through `point`. */
nslua.cut = (polygon, point, normal) => {
  const heights = polygon.map((p) => p.clone().sub(point).dot(normal)), result = [];
  polygon.forEach((p, i) => {
    const j = (i + 1) % polygon.length;
    if (heights[i] >= 0) result.push(p);
    if (heights[i] >= 0 !== heights[j] >= 0) result.push(p.clone().lerp(polygon[j], heights[i] / (heights[i] - heights[j])));
  });
  return result;
};

/* The part of plane k that is in front of the others, and at most `size` from `centre` along its axes. */
nslua.planePolygon = (planes, k, centre, size) => {
  const T = window.THREE, { point, normal } = planes[k], middle = centre.clone().addScaledVector(normal, -centre.clone().sub(point).dot(normal));
  const turn = new T.Quaternion().setFromUnitVectors(new T.Vector3(0, 0, 1), normal);
  let polygon = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([x, y]) => new T.Vector3(size * x, size * y, 0).applyQuaternion(turn).add(middle));
  planes.forEach((other, i) => {
    if (i !== k && polygon.length && Math.abs(other.normal.dot(normal)) < 1 - 1e-9) polygon = nslua.cut(polygon, other.point, other.normal);
  });
  return polygon;
};

/* Lines at round distances over a polygon of a horizontal plane. */
nslua.gridLines = (polygon, step) => {
  const points = [], T = window.THREE;
  for (const [axis, other] of [["x", "y"], ["y", "x"]]) {
    const values = polygon.map((p) => p[axis]), last = Math.floor(Math.max(...values) / step);
    for (let i = Math.ceil(Math.min(...values) / step); i <= last; i++) {
      const ends = [];
      polygon.forEach((p, k) => {
        const q = polygon[(k + 1) % polygon.length], a = p[axis] - i * step, b = q[axis] - i * step;
        if (a >= 0 !== b >= 0) ends.push(p.clone().lerp(q, a / (a - b)));
      });
      ends.sort((p, q) => p[other] - q[other]);
      if (ends.length === 2) points.push(...ends);
    }
  }
  return new T.BufferGeometry().setFromPoints(points);
};

/* ---- the scene ---- */

nslua.SpaceView = class {
  constructor(canvas, record, motion) {
    const T = window.THREE;
    Object.assign(this, { record, motion, canvas });
    const context = canvas.getContext("webgl2", { antialias: true, preserveDrawingBuffer: Boolean(record.film) });
    this.renderer = new T.WebGLRenderer({ canvas, context: context ?? undefined, antialias: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = T.PCFSoftShadowMap;
    this.scene = new T.Scene();
    this.camera = new T.PerspectiveCamera(40, 1, 0.01, 1000);
    this.camera.up.set(0, 0, 1);
    this.controls = new T.OrbitControls(this.camera, canvas);
    this.controls.enableKeys = false;
    this.showing = { forces: Boolean(record.forces), chains: false, grid: true };
    this.measure();
    this.light();
    this.buildBodies();
    this.buildPlanes();
    this.buildForces();
    this.recolour();
    this.showAll();
  }

  /* The ball that holds the bodies at the start and in the middle, and the meshes. */
  measure() {
    const T = window.THREE, box = new T.Box3(), { motion, record } = this, { places } = motion, { radii } = this.drawing = nslua.readParts(record.parts, record.count, motion.bodies);
    for (const share of [0, 0.5]) {
      motion.set(motion.times[Math.round(share * (motion.count - 1))]);
      for (let i = 0; i < motion.bodies; i++) {
        const p = new T.Vector3(places[7 * i], places[7 * i + 1], places[7 * i + 2]), r = radii[i];
        box.union(new T.Box3(p.clone().subScalar(r), p.addScalar(r)));
      }
    }
    for (const p of record.world) box.expandByPoint(new T.Vector3(...p));
    if (box.isEmpty()) box.set(new T.Vector3(-1, -1, -1), new T.Vector3(1, 1, 1));
    [this.box, this.centre] = [box, box.getCenter(new T.Vector3())];
    this.size = Math.max(box.getSize(new T.Vector3()).length() / 2, 1e-9);
  }

  light() {
    const T = window.THREE, { scene, size, centre } = this, sun = new T.DirectionalLight(0xffffff, 0.6);
    this.sky = new T.HemisphereLight(0xffffff, 0x8d99a8, 0.5);
    sun.position.copy(centre).add(new T.Vector3(-0.7, -1.1, 2).multiplyScalar(2 * size));
    sun.target.position.copy(centre);
    sun.castShadow = true;
    sun.shadow.mapSize.set(2048, 2048);
    Object.assign(sun.shadow.camera, { left: -1.5 * size, right: 1.5 * size, top: 1.5 * size, bottom: -1.5 * size, near: 0.5 * size, far: 9 * size });
    sun.shadow.bias = -0.002;
    scene.add(this.sky, sun, sun.target);
  }

  /* For each geometry one mesh of instances: the parts with it. */
  buildBodies() {
    const T = window.THREE, { record, scene } = this, lists = record.geometries.map(() => []);
    for (const { body, paint, geometry, numbers: n } of this.drawing.parts)
      lists[geometry].push({ body: body - 1, offset: new T.Vector3(n[0], n[1], n[2]), scale: new T.Vector3(n[3], n[4], n[5]), paint });
    const stripes = nslua.stripes();
    this.groups = lists.map((list, g) => {
      const solid = record.geometries[g], geometry = solid.ball ? nslua.ballGeometry(list.length) : nslua.solidGeometry(solid);
      const colours = new T.InstancedBufferAttribute(new Float32Array(3 * list.length), 3);
      geometry.setAttribute("color", colours);
      const material = new T.MeshLambertMaterial({ vertexColors: T.VertexColors, map: solid.ball ? stripes : null,
        side: solid.open ? T.DoubleSide : T.FrontSide });
      if (solid.world && !solid.open) Object.assign(material, { transparent: true, opacity: 0.4, depthWrite: false }); /* one looks into a funnel */
      const mesh = new T.InstancedMesh(geometry, material, list.length);
      mesh.instanceMatrix.setUsage?.(T.DynamicDrawUsage);
      mesh.frustumCulled = false;
      mesh.castShadow = !solid.open && !solid.world;
      mesh.receiveShadow = true;
      scene.add(mesh);
      return { mesh, list, colours };
    });
  }

  buildPlanes() {
    const T = window.THREE, { record, scene, size, centre } = this;
    const planes = record.planes.map(([x, y, z, a, b, c]) => ({ point: new T.Vector3(x, y, z), normal: new T.Vector3(a, b, c) }));
    const step = 10 ** Math.floor(Math.log10(size / 2)), round = [1, 2, 5, 10].map((m) => m * step).find((s) => size / s < 6) ?? step;
    this.sheets = [], this.grids = [];
    const grid = (polygon) => {
      const lines = new T.LineSegments(nslua.gridLines(polygon, round), new T.LineBasicMaterial({ transparent: true, opacity: 0.55 }));
      lines.position.z = 1e-3 * size;
      this.grids.push(lines);
    };
    planes.forEach((plane, k) => {
      const polygon = nslua.planePolygon(planes, k, centre, 3 * size);
      if (polygon.length < 3) return;
      const points = [];
      for (let i = 1; i + 1 < polygon.length; i++) points.push(polygon[0], polygon[i], polygon[i + 1]);
      const geometry = new T.BufferGeometry().setFromPoints(points);
      geometry.computeVertexNormals();
      const level = plane.normal.z > 1 - 1e-9, sheet = new T.Mesh(geometry, new T.MeshLambertMaterial({ transparent: !level, opacity: level ? 1 : 0.6 }));
      sheet.receiveShadow = true;
      this.sheets.push(sheet);
      if (level) grid(polygon);
    });
    if (!this.sheets.length && !record.meshes) {
      const z = this.box.min.z, square = [[-1, -1], [1, -1], [1, 1], [-1, 1]];
      grid(square.map(([x, y]) => new T.Vector3(centre.x + 3 * size * x, centre.y + 3 * size * y, z)));
    }
    scene.add(...this.sheets, ...this.grids);
  }

  buildForces() {
    const T = window.THREE, { record, scene, motion } = this;
    if (!record.forces) return;
    const { list, starts } = nslua.readForces(record.forces, motion.count);
    [this.forces, this.starts] = [list, starts];
    const most = Math.max(1, ...starts.map((at, k) => (starts[k + 1] ?? at) - at)) / 8;
    if (most > 300) this.showing.forces = false; /* they would hide the bodies; C shows them */
    const make = (geometry) => {
      const seen = { depthTest: false, transparent: true, opacity: 0.9 }; /* they end in bodies and below floors */
      const mesh = new T.InstancedMesh(geometry, new T.MeshBasicMaterial(seen), most);
      mesh.renderOrder = 1;
      mesh.frustumCulled = false;
      scene.add(mesh);
      return mesh;
    };
    [this.arrows, this.rods] = [make(nslua.arrowGeometry()), make(nslua.rodGeometry())];
  }

  /* ---- a picture ---- */

  set(t) {
    this.motion.set(t);
    this.setBodies();
    if (this.forces) this.setForces(this.motion.locate(t).k);
    if (this.followed !== undefined) this.goWith(this.placeOf(this.followed));
  }

  placeOf(body) { return new window.THREE.Vector3(...this.motion.places.subarray(7 * body, 7 * body + 3)); }

  setBodies() {
    const T = window.THREE, { places } = this.motion, own = new T.Matrix4(), one = new T.Vector3(1, 1, 1);
    const position = new T.Vector3(), turn = new T.Quaternion();
    for (const { mesh, list } of this.groups) {
      const array = mesh.instanceMatrix.array;
      list.forEach(({ body, offset, scale }, i) => {
        if (body < 0) own.identity();
        else {
          const at = 7 * body;
          turn.set(places[at + 4], places[at + 5], places[at + 6], places[at + 3]);
          own.compose(position.set(places[at], places[at + 1], places[at + 2]), turn, one);
        }
        if (offset.x || offset.y || offset.z) own.setPosition(position.copy(offset).applyMatrix4(own));
        own.scale(scale).toArray(array, 16 * i);
      });
      mesh.instanceMatrix.needsUpdate = true;
    }
    if (this.record.values) this.paintValues();
  }

  /* Arrows end at the point where they press; chains go from centre to centre, or to the point on the world. */
  setForces(k) {
    const T = window.THREE, { forces, starts, record, size } = this, { arrows, rods, showing } = this;
    const matrix = new T.Matrix4(), turn = new T.Quaternion(), up = new T.Vector3(0, 0, 1), unit = record.forces.size;
    const lay = (mesh, i, from, way, length, width) => {
      turn.setFromUnitVectors(up, way);
      matrix.compose(from, turn, new T.Vector3(width, width, Math.max(length, 1e-9 * size))).toArray(mesh.instanceMatrix.array, 16 * i);
    };
    arrows.count = rods.count = 0;
    for (let at = starts[k]; at < starts[k + 1]; at += 8) {
      const [first, second, x, y, z, a, b, c] = forces.subarray(at, at + 8);
      const centre = this.placeOf(first), point = new T.Vector3(x, y, z).add(centre), force = new T.Vector3(a, b, c), share = force.length();
      if (!share) continue;
      const root = Math.cbrt(share), length = 5 * unit * root;
      if (showing.forces) lay(arrows, arrows.count++, point.clone().addScaledVector(force, -length / share), force.clone().normalize(), length, 0.3 * unit * (0.3 + root));
      if (!showing.chains) continue;
      const way = (second < 0 ? point : this.placeOf(second)).sub(centre), reach = way.length();
      if (reach > 0) lay(rods, rods.count++, centre, way.normalize(), reach, 1.2 * unit * root);
    }
    for (const mesh of [arrows, rods]) {
      mesh.visible = mesh.count > 0;
      mesh.instanceMatrix.needsUpdate = true;
    }
  }

  /* ---- colours ---- */

  recolour() {
    const T = window.THREE, colour = (name) => new T.Color(nslua.colour(name));
    this.renderer.setClearColor(colour("paper"));
    for (const sheet of this.sheets) sheet.material.color = colour("edge");
    for (const lines of this.grids) lines.material.color = colour("muted");
    if (this.forces) [this.arrows.material.color, this.rods.material.color] = [colour("vermillion"), colour("orange")];
    const known = new Map();
    for (const { list, colours } of this.groups) {
      list.forEach(({ paint }, i) => {
        const name = this.record.colours[paint];
        if (!known.has(name)) known.set(name, colour(name));
        known.get(name).toArray(colours.array, 3 * i);
      });
      colours.needsUpdate = true;
    }
  }

  paintValues() {
    const { low, high } = this.record.values, { values } = this.motion;
    for (const { list, colours } of this.groups) {
      list.forEach(({ body }, i) => {
        if (body >= 0) colours.array.set(nslua.shade((values[body] - low) / (high > low ? high - low : 1)), 3 * i);
      });
      colours.needsUpdate = true;
    }
  }

  /* ---- the view ---- */

  showAll() {
    const T = window.THREE, { camera, controls, centre, size, record } = this, view = record.camera;
    this.followed = undefined;
    controls.target.copy(view ? new T.Vector3(...view.at) : centre);
    const back = new T.Vector3(0.5, -0.78, 0.38).normalize();
    camera.position.copy(view ? new T.Vector3(...view.from) : back.multiplyScalar(this.distanceFrom(back)).add(centre));
    Object.assign(camera, { near: 1e-2 * size, far: 60 * size });
    camera.updateProjectionMatrix();
    controls.update();
  }

  /* The distance from the centre, in this direction, from which the corners of the box fit into the picture, with a margin. */
  distanceFrom(back) {
    const T = window.THREE, { box, centre, camera } = this, across = new T.Vector3().crossVectors(camera.up, back).normalize();
    const up = new T.Vector3().crossVectors(back, across), slope = Math.tan(camera.fov / 2 * Math.PI / 180) * 0.85;
    let most = 0;
    for (let i = 0; i < 8; i++) {
      const p = new T.Vector3(...["x", "y", "z"].map((axis, k) => (i >> k & 1 ? box.max : box.min)[axis])).sub(centre);
      most = Math.max(most, p.dot(back) + Math.max(Math.abs(p.dot(up)), Math.abs(p.dot(across)) / camera.aspect) / slope);
    }
    return most;
  }

  /* Moves the view so that its target is at a point. */
  goWith(point) {
    const { camera, controls } = this;
    camera.position.add(point.clone().sub(controls.target));
    controls.target.copy(point);
  }

  /* Turns the view by angles, and changes its distance by a factor. */
  turn(around, up, factor = 1) {
    const T = window.THREE, { camera, controls } = this, way = camera.position.clone().sub(controls.target);
    const length = way.length() * factor, height = nslua.clamp(Math.asin(nslua.clamp(way.z / way.length(), -1, 1)) + up, -1.55, 1.55);
    const angle = Math.atan2(way.y, way.x) + around, flat = length * Math.cos(height);
    camera.position.copy(controls.target).add(new T.Vector3(flat * Math.cos(angle), flat * Math.sin(angle), length * Math.sin(height)));
    controls.update();
  }

  /* The body at a point of the picture, from -1 to 1; undefined: none. */
  bodyAt(x, y) {
    const T = window.THREE, ray = new T.Raycaster(), { radii } = this.drawing;
    let found, nearest = Infinity;
    ray.setFromCamera(new T.Vector2(x, y), this.camera);
    for (let i = 0; i < this.motion.bodies; i++) {
      const hit = ray.ray.intersectSphere(new T.Sphere(this.placeOf(i), radii[i]), new T.Vector3()), far = hit?.distanceTo(ray.ray.origin);
      if (hit && far < nearest) [found, nearest] = [i, far];
    }
    return found;
  }

  follow(body) { this.followed = body !== undefined && body < this.motion.bodies ? body : undefined; }

  resize(width, height, ratio) {
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    const first = this.aspect === undefined;
    this.aspect = this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (first) this.showAll();
  }

  render() {
    for (const lines of this.grids) lines.visible = this.showing.grid;
    this.renderer.render(this.scene, this.camera);
  }
};

/* ---- the page ---- */

nslua.icons.forces = "M11 4h2v10h4l-5 6-5-6h4z";
nslua.icons.chains = "M5 5a2.5 2.5 0 1 1 2 4l4 5h2a2.5 2.5 0 1 1 0 2h-3L5.500 9.800A2.500 2.500 0 0 1 5 5z";
nslua.icons.follow = "M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM11 2h2v4h-2zM11 18h2v4h-2zM2 11h4v2H2zM18 11h4v2h-4z";

nslua.SpacePlayer = class extends nslua.Player {
  open(record) { this.scene = new nslua.Motion(record); }

  style() { return "player space"; }

  /* The view of the motion, in place of the painter's. */
  painting() {
    this.space = new nslua.SpaceView(this.canvas, this.record, this.scene);
    const paint = () => {
      this.space.set(this.time);
      this.space.render();
    };
    const fit = () => {
      const { clientWidth: width, clientHeight: height } = this.canvas;
      if (!width || !height) return;
      this.space.resize(width, height, window.devicePixelRatio || 1);
      paint();
    };
    new ResizeObserver(fit).observe(this.canvas);
    nslua.onScheme(() => this.space.recolour());
    if (this.record.film) this.shoot(this.record.film);
    if (this.record.values) this.stage.append(this.buildLegend(this.record.values));
    return paint;
  }

  /* Puts the pictures at these times into the document, as text. */
  shoot({ times, width, height }) {
    this.space.resize(width, height, 1);
    const shots = nslua.element("pre", { id: "shots" });
    for (const t of times) {
      this.space.set(t);
      this.space.render();
      shots.append(this.canvas.toDataURL("image/png").split(",")[1] + "\n");
    }
    document.body.append(shots);
  }

  buildLegend({ label, low, high }) {
    const colours = nslua.viridis.map((c) => `rgb(${c.join()})`).join();
    const bar = nslua.element("div", { class: "bar", style: `background: linear-gradient(90deg, ${colours})` });
    const number = (x) => nslua.element("span", { text: String(Number(x.toPrecision(3))) });
    return nslua.element("div", { class: "legend-bar" }, nslua.element("span", { text: label }), number(low), bar, number(high));
  }

  /* The clock's controls, and buttons for what is shown. */
  buildControls() {
    const controls = super.buildControls(), more = controls.lastChild, { icons } = nslua;
    this.switches = {};
    if (this.record.forces) {
      const add = (name, label, key) => {
        this.switches[name] = nslua.iconButton(`${label} (${key})`, icons[name], () => this.show3d(name));
        more.prepend(this.switches[name]);
      };
      add("chains", "Force chains", "H");
      add("forces", "Contact forces", "C");
    }
    this.switches.follow = nslua.iconButton("Follow a body (F, or a click on it)", icons.follow, () => this.followNext());
    more.prepend(this.switches.follow);
    return controls;
  }

  showSwitches() {
    for (const [name, button] of Object.entries(this.switches))
      button.setAttribute("aria-pressed", String(name === "follow" ? this.space.followed !== undefined : this.space.showing[name]));
  }

  /* Shows forces, chains or the grid, or hides them. */
  show3d(name) {
    this.space.showing[name] = !this.space.showing[name];
    this.showSwitches();
    this.paint();
  }

  follow(body) {
    this.space.follow(body);
    this.showSwitches();
    this.paint();
  }

  followNext() { this.follow((this.space.followed ?? -1) + 1); }

  shapeStage() {}

  listenStage() {
    const { canvas, space } = this;
    let from;
    space.controls.addEventListener("change", () => space.render());
    canvas.addEventListener("pointerdown", (event) => { from = [event.clientX, event.clientY]; });
    canvas.addEventListener("click", (event) => {
      if (!from || Math.hypot(event.clientX - from[0], event.clientY - from[1]) > 5) return;
      const { left, top, width, height } = canvas.getBoundingClientRect();
      this.follow(space.bodyAt(2 * (event.clientX - left) / width - 1, 1 - 2 * (event.clientY - top) / height));
    });
    this.view = { showAll: () => { space.showAll(); this.showSwitches(); this.paint(); } };
    this.showSwitches();
  }

  keys() {
    const { space } = this, turn = (around, up, factor) => () => { space.turn(around, up, factor); space.render(); };
    return { a: turn(-0.1, 0), d: turn(0.1, 0), w: turn(0, 0.1), s: turn(0, -0.1), "+": turn(0, 0, 1 / 1.1), "-": turn(0, 0, 1.1),
      f: () => this.followNext(), c: () => this.record.forces && this.show3d("forces"), h: () => this.record.forces && this.show3d("chains"),
      g: () => this.show3d("grid") };
  }
};
