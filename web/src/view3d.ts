// The mechanism in space. A bundle of its own, which only pages with a drawing in space carry.

import {
  CircleGeometry,
  Color,
  CylinderGeometry,
  DirectionalLight,
  DynamicDrawUsage,
  GridHelper,
  HemisphereLight,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  PCFShadowMap,
  PerspectiveCamera,
  Quaternion,
  Scene,
  ShadowMaterial,
  SphereGeometry,
  Vector3,
  WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { Clock } from "./clock";
import { Frames } from "./frames";
import { Drawing } from "./run";
import { element } from "./style";
import type { View } from "./view2d";

const trailSeconds = 3;
const trailLength = 240;
const background = new Color("#fbfcfd");

class View3d implements View {
  readonly node = element("div", { class: "stage stage3d" });
  labels = false;
  private turned = false;
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(32, 1, 0.01, 1000);
  private readonly controls: OrbitControls;
  private readonly now: Float64Array;
  private readonly segments: [number, number][] = [];
  private readonly moving: InstancedMesh;
  private readonly rods: InstancedMesh;
  private readonly trails: { point: number; geometry: LineGeometry; positions: Float32Array }[] = [];
  private readonly tags: HTMLElement[] = [];
  private readonly radius: number;
  private readonly ball: number;
  private readonly centre: Vector3;

  constructor(
    drawing: Drawing,
    private readonly frames: Frames,
    private readonly clock: Clock,
  ) {
    this.now = new Float64Array(frames.points * 3);
    const { min, max } = frames.box;
    this.centre = new Vector3((min[0] + max[0]) / 2, (min[1] + max[1]) / 2, (min[2] + max[2]) / 2);
    this.radius = Math.max(1e-9, Math.hypot(max[0] - min[0], max[1] - min[1], max[2] - min[2]) / 2);
    this.ball = this.radius * (frames.points > 60 ? 0.014 : frames.points > 20 ? 0.024 : 0.042);

    // kept after drawing, so that the picture can be printed and saved
    this.renderer = new WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(Math.min(2, devicePixelRatio || 1));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.node.append(this.renderer.domElement);
    this.scene.background = background;
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.addEventListener("change", () => this.render());
    this.controls.addEventListener("start", () => (this.turned = true));

    this.addLight();
    this.addFloor(min[2]);
    for (const line of drawing.lines)
      for (let i = 1; i < line.length; ++i) this.segments.push([line[i - 1], line[i]]);
    const steel = new MeshStandardMaterial({ color: "#39465a", roughness: 0.45, metalness: 0.15 });
    this.rods = new InstancedMesh(new CylinderGeometry(1, 1, 1, 20), steel, Math.max(1, this.segments.length));
    this.rods.count = this.segments.length;
    const white = new MeshStandardMaterial({ roughness: 0.35, metalness: 0.05 });
    this.moving = new InstancedMesh(new SphereGeometry(1, 32, 20), white, frames.points);
    for (const mesh of [this.rods, this.moving]) {
      mesh.castShadow = true;
      mesh.frustumCulled = false;
      mesh.instanceMatrix.setUsage(DynamicDrawUsage);
      this.scene.add(mesh);
    }
    for (let p = 0; p < frames.points; ++p) {
      this.moving.setColorAt(p, new Color(frames.fixed[p] ? "#8a94a3" : "#0b5fa5"));
      this.tags.push(element("span", { class: "tag" }, drawing.names[p]));
    }
    this.node.append(...this.tags);
    for (const point of drawing.trails) this.addTrail(point);
    this.reset();
  }

  reset(): void {
    this.controls.target.copy(this.centre);
    this.camera.near = this.radius / 50;
    this.camera.far = 80 * this.radius;
    this.camera.updateProjectionMatrix();
    // as near as the whole motion allows
    const direction = new Vector3(0.5, -0.78, 0.34).normalize();
    for (let distance = 1.6 * this.radius; distance < 12 * this.radius; distance *= 1.05) {
      this.camera.position.copy(this.centre).addScaledVector(direction, distance);
      this.camera.lookAt(this.centre);
      this.camera.updateMatrixWorld();
      if (this.seesAll()) break;
    }
    this.controls.update();
    this.turned = false;
  }

  private seesAll(): boolean {
    const { frames } = this;
    const place = new Vector3();
    const every = Math.max(1, Math.floor((frames.count * frames.points) / 4000));
    for (let k = 0; k < frames.count; k += every)
      for (let p = 0; p < frames.points; ++p) {
        place.set(frames.value(k, p, 0), frames.value(k, p, 1), frames.value(k, p, 2)).project(this.camera);
        if (Math.abs(place.x) > 0.86 || Math.abs(place.y) > 0.82 || Math.abs(place.z) > 1) return false;
      }
    return true;
  }

  resize(width: number, height: number): void {
    this.renderer.setSize(width, height);
    this.node.style.height = `${height}px`;
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (!this.turned) this.reset();
    this.draw();
  }

  draw(): void {
    this.frames.at(this.clock.time, this.now);
    const matrix = new Matrix4();
    const [from, to, up, turn] = [new Vector3(), new Vector3(), new Vector3(0, 1, 0), new Quaternion()];
    const at = (p: number, out: Vector3) => out.set(this.now[3 * p], this.now[3 * p + 1], this.now[3 * p + 2]);
    for (let p = 0; p < this.frames.points; ++p) {
      const size = this.frames.fixed[p] ? 0.7 * this.ball : this.ball;
      matrix.compose(at(p, from), turn.identity(), to.setScalar(size));
      this.moving.setMatrixAt(p, matrix);
    }
    const along = new Vector3();
    const thickness = 0.3 * this.ball;
    this.segments.forEach(([a, b], i) => {
      at(a, from);
      at(b, to);
      along.subVectors(to, from);
      const length = along.length();
      turn.setFromUnitVectors(up, length > 0 ? along.divideScalar(length) : up);
      matrix.compose(from.add(to).multiplyScalar(0.5), turn, to.set(thickness, length, thickness));
      this.rods.setMatrixAt(i, matrix);
    });
    this.moving.instanceMatrix.needsUpdate = true;
    this.rods.instanceMatrix.needsUpdate = true;
    for (const trail of this.trails) this.updateTrail(trail);
    this.render();
  }

  private render(): void {
    this.renderer.render(this.scene, this.camera);
    const size = this.renderer.domElement;
    const place = new Vector3();
    this.tags.forEach((tag, p) => {
      tag.style.display = this.labels ? "" : "none";
      if (!this.labels) return;
      place.set(this.now[3 * p], this.now[3 * p + 1], this.now[3 * p + 2]).project(this.camera);
      const [x, y] = [((place.x + 1) / 2) * size.clientWidth, ((1 - place.y) / 2) * size.clientHeight];
      tag.style.transform = `translate(${x + 9}px,${y - 20}px)`;
    });
  }

  private addLight(): void {
    this.scene.add(new HemisphereLight("#ffffff", "#c8d0dc", 2.1));
    const sun = new DirectionalLight("#ffffff", 1.9);
    sun.position.copy(this.centre).add(new Vector3(0.35, -0.3, 1).multiplyScalar(4 * this.radius));
    sun.target.position.copy(this.centre);
    sun.castShadow = true;
    sun.shadow.mapSize.set(1024, 1024);
    sun.shadow.radius = 4;
    const reach = 1.6 * this.radius;
    Object.assign(sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: this.radius, far: 8 * this.radius });
    this.scene.add(sun, sun.target);
  }

  /** A grid of a round step a little below the lowest point, on which shadows show the depth. */
  private addFloor(lowest: number): void {
    const z = lowest - 2.2 * this.ball;
    const power = Math.pow(10, Math.floor(Math.log10(this.radius / 2)));
    const step = power * (this.radius / 2 / power < 2 ? 1 : this.radius / 2 / power < 5 ? 2 : 5);
    const cells = 2 * Math.ceil((1.5 * this.radius) / step);
    const gridLines = new GridHelper(cells * step, cells, "#c3cad4", "#e3e7ed");
    gridLines.rotation.x = Math.PI / 2;
    gridLines.position.set(Math.round(this.centre.x / step) * step, Math.round(this.centre.y / step) * step, z);
    const floor = new Mesh(new CircleGeometry(3 * this.radius, 48), new ShadowMaterial({ opacity: 0.16 }));
    floor.position.set(this.centre.x, this.centre.y, z - 0.001 * this.radius);
    floor.receiveShadow = true;
    this.scene.add(floor, gridLines);
  }

  private addTrail(point: number): void {
    const whole = new Float32Array(this.frames.count * 3);
    for (let k = 0; k < this.frames.count; ++k)
      for (let d = 0; d < 3; ++d) whole[3 * k + d] = this.frames.value(k, point, d);
    const path = new LineGeometry();
    path.setPositions(whole);
    this.scene.add(new Line2(path, new LineMaterial({ color: "#0b5fa5", linewidth: 1.2, transparent: true, opacity: 0.16 })));

    const positions = new Float32Array(trailLength * 3);
    const colours = new Float32Array(trailLength * 3);
    const shade = new Color();
    for (let i = 0; i < trailLength; ++i)
      shade.lerpColors(background, new Color("#d1495b"), i / trailLength).toArray(colours, 3 * i);
    const geometry = new LineGeometry();
    geometry.setPositions(positions);
    geometry.setColors(colours);
    const line = new Line2(geometry, new LineMaterial({ vertexColors: true, linewidth: 2.6 }));
    line.frustumCulled = false;
    this.scene.add(line);
    this.trails.push({ point, geometry, positions });
  }

  private updateTrail({ point, geometry, positions }: { point: number; geometry: LineGeometry; positions: Float32Array }): void {
    const start = Math.max(this.frames.times[0], this.clock.time - trailSeconds * this.clock.speed);
    const moment = new Float64Array(this.now.length);
    for (let i = 0; i < trailLength; ++i) {
      this.frames.at(start + ((this.clock.time - start) * i) / (trailLength - 1), moment);
      for (let d = 0; d < 3; ++d) positions[3 * i + d] = moment[3 * point + d];
    }
    geometry.setPositions(positions);
  }
}

declare global {
  interface Window {
    daedalusView3d?: (drawing: Drawing, frames: Frames, clock: Clock) => View;
  }
}

window.daedalusView3d = (drawing, frames, clock) => new View3d(drawing, frames, clock);
