// SPDX-License-Identifier: Apache-2.0
// A call graph, laid out in the browser: boxes and arrows are in the page, hidden, and are turned into a picture with
// links. If that fails, the tables below have the same data.

const SVG = "http://www.w3.org/2000/svg";
const CHARACTER = 7.3, LINE = 16, PAD = 8; // pixels of the fixed-width font
const LABEL_LONGEST = 34; // characters
const HEATS = 5;

function make(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function loadDagre() {
  return new Promise((done, fail) => {
    const script = document.createElement("script");
    script.src = new URL("../vendor/dagre/dagre.min.js", import.meta.url);
    script.onload = () => done(window.dagre);
    script.onerror = fail;
    document.head.append(script);
  });
}

function shorten(text) {
  return text.length > LABEL_LONGEST ? `${text.slice(0, LABEL_LONGEST - 1)}…` : text;
}

function readNode(element) {
  const { node, place, amount, own, total, focus } = element.dataset;
  const lines = [shorten(element.textContent), shorten(place ?? ""), amount ?? ""].filter(Boolean);
  return {
    id: node, href: element.getAttribute("href"), name: element.textContent, lines,
    own: Number(own), total: Number(total), focus: focus !== undefined,
    width: Math.max(...lines.map((line) => line.length)) * CHARACTER + 2 * PAD,
    height: lines.length * LINE + PAD,
  };
}

function layOut(dagre, nodes, edges) {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 18, ranksep: 34, edgesep: 8, marginx: 8, marginy: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of nodes) graph.setNode(node.id, node);
  edges.forEach((edge, i) => {
    graph.setEdge(edge.from, edge.to, {
      label: edge.label, share: edge.share, width: edge.label.length * CHARACTER * .9, height: LINE - 2, labelpos: "c",
    }, `e${i}`);
  });
  dagre.layout(graph);
  return graph;
}

function drawEdge(edge) {
  const [first, ...rest] = edge.points;
  const path = `M${first.x},${first.y}L${rest.map((point) => `${point.x},${point.y}`).join("L")}`;
  const line = make("path", { d: path, "marker-end": "url(#arrow)", "stroke-width": (.8 + 3 * edge.share).toFixed(2) });
  const label = make("text", { x: edge.x, y: edge.y + 4, "text-anchor": "middle" }, edge.label);
  return make("g", { class: "edge" }, line, label);
}

function drawNode(node) {
  const heat = Math.min(HEATS, 1 + Math.floor(node.own * HEATS));
  const left = node.x - node.width / 2, top = node.y - node.height / 2;
  const box = make("rect", { x: left, y: top, width: node.width, height: node.height, rx: 4 });
  const texts = node.lines.map((line, i) => make("text", { x: left + PAD, y: top + LINE * (i + 1) - 3 }, line));
  const title = make("title", {}, node.name);
  const link = make("a", { class: `node h${heat}${node.focus ? " focus" : ""}`, href: node.href }, title, box, ...texts);
  link.setAttribute("aria-label", [node.name, ...node.lines.slice(1)].join(", "));
  return link;
}

function draw(graph, label) {
  const { width, height } = graph.graph();
  const arrow = make("marker", {
    id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto",
    markerUnits: "userSpaceOnUse",
  }, make("path", { d: "M0,0L8,4L0,8z" }));
  const picture = make("svg", {
    role: "group", "aria-label": label, viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`,
    width: Math.ceil(width), height: Math.ceil(height),
  }, make("defs", {}, arrow));
  for (const edge of graph.edges()) picture.append(drawEdge(graph.edge(edge)));
  for (const id of graph.nodes()) picture.append(drawNode(graph.node(id)));
  return picture;
}

export async function startGraph(figure) {
  try {
    const nodes = [...figure.querySelectorAll("[data-node]")].map(readNode);
    const edges = [...figure.querySelectorAll("[data-from]")].map((element) => ({
      from: element.dataset.from, to: element.dataset.to, share: Number(element.dataset.weight), label: element.textContent,
    }));
    const graph = layOut(await loadDagre(), nodes, edges);
    figure.replaceChildren(draw(graph, figure.dataset.label));
    figure.hidden = false;
    figure.tabIndex = 0; // focusable, because it scrolls when it is wider than the window
    figure.setAttribute("aria-label", figure.dataset.label);
    figure.querySelector(".focus")?.scrollIntoView({ block: "nearest", inline: "center" });
    window.scrollTo(0, 0);
  } catch {
    figure.remove(); // the tables have the same data
  }
}
