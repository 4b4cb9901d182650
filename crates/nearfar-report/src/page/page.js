"use strict";
(() => {
  const $ = (of, what) => of.querySelector(what), $$ = (of, what) => [...of.querySelectorAll(what)];
  const text = template => template ? template.content.textContent : "";

  // CSV as rows of cells; quotes as in RFC 4180.
  const parse = csv => {
    const rows = [[]];
    let cell = "", inside = false;
    for (let i = 0; i < csv.length; i++) {
      const c = csv[i];
      if (inside) {
        if (c !== '"') cell += c;
        else if (csv[i + 1] === '"') { cell += '"'; i++; } else inside = false;
      } else if (c === '"') inside = true;
      else if (c === "," || c === "\n") {
        rows[rows.length - 1].push(cell); cell = "";
        if (c === "\n") rows.push([]);
      } else cell += c;
    }
    rows.pop();
    return rows;
  };
  const short = word => {
    const x = Number(word);
    return word === "" ? "–" : !Number.isFinite(x) || /^-?\d+$/.test(word) ? word : String(Number(x.toPrecision(4)));
  };
  const save = (name, content) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([content], { type: "text/csv" }));
    link.download = name + ".csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const rowsOf = figure => figure.rows ??= parse(text($(figure, "template.data")));

  for (const button of $$(document, "button.csv")) {
    button.addEventListener("click", () => {
      const figure = button.closest("figure");
      save(button.dataset.name, figure.cells ? figure.cells() : text($(figure, "template.data")));
    });
  }

  // Line and bar charts: the row whose first number is nearest to the pointer.
  for (const svg of $$(document, "figure.chart svg[data-x]")) {
    const figure = svg.closest("figure"), readout = $(figure, ".readout");
    if (!readout) continue;
    const [left, right, least, most, log] = svg.dataset.x.split(" ").map(Number);
    const share = x => log ? Math.log(Math.max(x, least) / least) / Math.log(most / least) : (x - least) / (most - least);
    const place = x => left + (right - left) * share(x);
    let at = -1;
    const show = row => {
      const rows = rowsOf(figure);
      at = Math.max(1, Math.min(rows.length - 1, row));
      $(svg, ".cursor").setAttribute("transform", `translate(${place(Number(rows[at][0])).toFixed(1)} 0)`);
      svg.classList.add("on");
      readout.textContent = rows[0].map((name, c) => `${name} ${short(rows[at][c])}`).filter((_, c) => rows[at][c] !== "").join(" · ");
    };
    const move = event => {
      const box = svg.getBoundingClientRect(), px = (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
      const rows = rowsOf(figure);
      let best = 1, gap = Infinity;
      for (let i = 1; i < rows.length; i++) {
        const d = Math.abs(place(Number(rows[i][0])) - px);
        if (d < gap) { gap = d; best = i; }
      }
      show(best);
    };
    svg.addEventListener("pointermove", move);
    svg.addEventListener("pointerdown", move);
    const leave = () => { svg.classList.remove("on"); readout.textContent = ""; };
    svg.addEventListener("pointerleave", leave);
    svg.addEventListener("blur", leave);
    svg.addEventListener("keydown", event => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) { event.preventDefault(); show(at < 0 ? 1 : at + step); }
      if (event.key === "Escape") leave();
    });
  }

  // Heat maps: the cell under the pointer.
  for (const svg of $$(document, "svg.map")) {
    const figure = svg.closest("figure"), readout = $(figure, ".readout");
    const { size, largest, n } = Object.fromEntries(Object.entries(svg.dataset).map(([k, v]) => [k, Number(v)]));
    const ends = svg.dataset.ends.split(" ").map(Number);
    let values;
    const value = (a, b) => {
      values ??= text($(figure, "template.cells")).split(",").map(Number);
      if (a > b) [a, b] = [b, a];
      return values[a * size - a * (a - 1) / 2 + b - a] / 9999 * largest;
    };
    const cluster = a => { const at = ends.findIndex(end => a + .5 < end); return at < 0 ? ends.length - 1 : at; };
    let at = null;
    const show = (a, b) => {
      const clamp = x => Math.max(0, Math.min(size - 1, x));
      at = [clamp(a), clamp(b)];
      const [row, column] = at.map(cluster);
      readout.textContent = `cluster ${row} with cluster ${column}: ${short(String(value(...at)))}` + (size < n ? ` (mean of a block of about ${Math.round(n / size)} × ${Math.round(n / size)} pairs)` : "");
    };
    const move = event => {
      const box = svg.getBoundingClientRect();
      show(Math.floor((event.clientY - box.top) / box.height * size), Math.floor((event.clientX - box.left) / box.width * size));
    };
    svg.addEventListener("pointermove", move);
    svg.addEventListener("pointerdown", move);
    svg.addEventListener("pointerleave", () => { readout.textContent = ""; });
    svg.addEventListener("keydown", event => {
      const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
      if (step) { event.preventDefault(); at ? show(at[0] + step[0], at[1] + step[1]) : show(0, 0); }
    });
    figure.cells = () => {
      let csv = "row,column,cluster_of_row,cluster_of_column,mean\n";
      for (let a = 0; a < size; a++) for (let b = a; b < size; b++) csv += `${a},${b},${cluster(a)},${cluster(b)},${Number(value(a, b).toPrecision(4))}\n`;
      return csv;
    };
  }

  // The scatter: drawn on one canvas, pointed at on a second one, so that a move redraws little.
  for (const plane of $$(document, ".plane")) {
    const figure = plane.closest("figure"), [canvas, top] = $$(plane, "canvas"), card = $(figure, ".card");
    const rows = rowsOf(figure).slice(1), squares = plane.dataset.kind === "squares", sure = plane.dataset.sure === "true", first = sure ? 5 : 4;
    const shapes = plane.dataset.shapes.split("|").map(d => new Path2D(d));
    const hidden = new Set();
    let view = 0, byConfidence = false, pointed = -1, points = [], frame = null;
    const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const load = () => {
      points = squares
        ? rows.filter(row => Number(row[0]) === view).map(row => ({ x: +row[1], y: +row[2], count: +row[3], label: +row[4], share: row[5], id: row[6], membership: row[7], confidence: sure ? +row[8] : null }))
        : rows.map(row => ({ id: row[0], label: +row[1], membership: row[2], near: row[3] ? row[3].split(" ").map(Number) : [], confidence: sure ? +row[4] : null, x: +row[first + 2 * view], y: +row[first + 1 + 2 * view] }));
      pointed = -1;
    };
    const fit = () => {
      const box = plane.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
      for (const c of [canvas, top]) { c.width = box.width * ratio; c.height = box.height * ratio; c.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0); }
      const range = key => points.reduce(([a, b], p) => [Math.min(a, p[key]), Math.max(b, p[key])], [Infinity, -Infinity]);
      const [[x0, x1], [y0, y1]] = [range("x"), range("y")], pad = 24;
      let sx = (box.width - 2 * pad) / (x1 - x0 || 1), sy = (box.height - 2 * pad) / (y1 - y0 || 1);
      // One unit is as long across as up, where that does not make a line of the picture.
      if (Math.max(sx / sy, sy / sx) < 2.2) sx = sy = Math.min(sx, sy);
      frame = { width: box.width, height: box.height, place: p => [box.width / 2 + (p.x - (x0 + x1) / 2) * sx, box.height / 2 - (p.y - (y0 + y1) / 2) * sy] };
      frame.at = points.map(frame.place);
      frame.grid = new Map();
      frame.at.forEach(([x, y], i) => { const key = (x >> 5) + "," + (y >> 5); (frame.grid.get(key) ?? frame.grid.set(key, []).get(key)).push(i); });
      frame.side = Math.max(4, Math.min(box.width, box.height) / 72);
    };
    const mark = (context, i, radius, color, edge) => {
      const [x, y] = frame.at[i], label = points[i].label;
      context.save();
      context.translate(x, y);
      context.scale(radius / 5, radius / 5);
      context.fillStyle = color;
      context.fill(shapes[(label % 8 + Math.floor(label / 8)) % shapes.length]);
      if (edge) { context.strokeStyle = edge; context.lineWidth = 5 / radius * .8; context.stroke(shapes[(label % 8 + Math.floor(label / 8)) % shapes.length]); }
      context.restore();
    };
    const draw = () => {
      if (!points.length) return;
      fit();
      const context = canvas.getContext("2d"), colors = [0, 1, 2, 3, 4, 5, 6, 7].map(c => style("--c" + c)), paper = style("--card");
      context.clearRect(0, 0, frame.width, frame.height);
      const most = squares ? Math.max(...points.map(p => p.count)) : 1;
      const radius = points.length > 2500 ? 2.4 : points.length > 800 ? 3.2 : points.length > 200 ? 4.2 : 5;
      // By confidence the least certain points come last and so on top.
      const order = points.map((_, i) => i), shades = ramp(style("--far"), style("--line"));
      if (byConfidence) order.sort((a, b) => points[b].confidence - points[a].confidence);
      for (const i of order) {
        const p = points[i];
        if (hidden.has(p.label)) continue;
        context.globalAlpha = squares ? .35 + .6 * Math.sqrt(p.count / most) : .88;
        const color = byConfidence ? shades(p.confidence) : colors[p.label % 8];
        mark(context, i, squares ? frame.side * (.28 + .42 * Math.sqrt(p.count / most)) : radius, color, squares ? null : paper);
      }
      context.globalAlpha = 1;
      names(context, style("--ink"), paper);
      plane.dataset.drawn = points.length;
      over();
    };
    // From one colour at 0 to another at 1.
    const ramp = (from, to) => {
      const parts = color => [1, 3, 5].map(at => parseInt(color.slice(at, at + 2), 16)), [a, b] = [parts(from), parts(to)];
      return share => `rgb(${a.map((x, at) => Math.round(x + (b[at] - x) * Math.max(0, Math.min(1, share)))).join(" ")})`;
    };
    // The number of each cluster at its most central point.
    const names = (context, ink, paper) => {
      const groups = new Map();
      points.forEach((p, i) => { if (!hidden.has(p.label)) (groups.get(p.label) ?? groups.set(p.label, []).get(p.label)).push(i); });
      context.font = "650 13px system-ui, sans-serif"; context.textAlign = "center"; context.textBaseline = "middle"; context.lineWidth = 4; context.lineJoin = "round";
      const taken = [];
      for (const [label, members] of [...groups].sort((a, b) => b[1].length - a[1].length)) {
        const mean = axis => members.reduce((sum, i) => sum + frame.at[i][axis], 0) / members.length, [mx, my] = [mean(0), mean(1)];
        let [x, y] = members.map(i => frame.at[i]).reduce((a, b) => Math.hypot(a[0] - mx, a[1] - my) <= Math.hypot(b[0] - mx, b[1] - my) ? a : b);
        // A name must not hide the whole of a small cluster.
        if (Math.max(...members.map(i => Math.hypot(frame.at[i][0] - x, frame.at[i][1] - y))) < 16) y += y > 40 ? -17 : 17;
        if (taken.some(([a, b]) => Math.hypot(a - x, b - y) < 14)) continue;
        taken.push([x, y]);
        context.strokeStyle = paper; context.strokeText(label, x, y); context.fillStyle = ink; context.fillText(label, x, y);
      }
    };
    const over = () => {
      const context = top.getContext("2d");
      context.clearRect(0, 0, frame.width, frame.height);
      if (pointed < 0) return;
      const ink = style("--ink"), [x, y] = frame.at[pointed];
      context.strokeStyle = ink; context.lineWidth = 1.2;
      for (const j of points[pointed].near ?? []) { context.beginPath(); context.moveTo(x, y); context.lineTo(...frame.at[j]); context.stroke(); }
      for (const j of points[pointed].near ?? []) mark(context, j, 5, style("--c" + points[j].label % 8), ink);
      mark(context, pointed, 7, style("--c" + points[pointed].label % 8), ink);
    };
    const called = id => plane.dataset.named === "true" ? id : "row " + id, name = i => called(points[i].id);
    const line = (list, term, words) => { const dt = document.createElement("dt"), dd = document.createElement("dd"); dt.textContent = term; dd.textContent = words; list.append(dt, dd); };
    const idle = [...card.childNodes];
    const point = i => {
      if (i === pointed) return;
      pointed = i;
      over();
      if (i < 0) { card.replaceChildren(...idle); return; }
      const p = points[i], head = document.createElement("h3"), list = document.createElement("dl");
      head.textContent = squares ? `${p.count} point${p.count === 1 ? "" : "s"}` : name(i);
      line(list, "cluster", squares && Number(p.share) < 1 ? `${p.label} (${Math.round(p.share * 100)} % of them)` : p.label);
      if (squares) line(list, "surest", called(p.id));
      if (sure) line(list, squares ? "mean confidence" : "confidence", `${(p.confidence * 100).toFixed(1)} %`);
      line(list, "membership", `${(p.membership * 100).toFixed(1)} %`);
      if (p.near?.length) line(list, "trusts", p.near.map(j => name(j) + (points[j].label === p.label ? "" : ` (in ${points[j].label})`)).join(", "));
      card.replaceChildren(head, list);
    };
    const nearest = (x, y) => {
      let best = -1, gap = 18 * 18;
      for (let a = -1; a < 2; a++) for (let b = -1; b < 2; b++)
        for (const i of frame.grid.get(((x >> 5) + a) + "," + ((y >> 5) + b)) ?? []) {
          const d = (frame.at[i][0] - x) ** 2 + (frame.at[i][1] - y) ** 2;
          if (d < gap && !hidden.has(points[i].label)) { gap = d; best = i; }
        }
      return best;
    };
    const move = event => { const box = plane.getBoundingClientRect(); point(nearest(event.clientX - box.left, event.clientY - box.top)); };
    canvas.addEventListener("pointermove", move);
    canvas.addEventListener("pointerdown", move);
    canvas.addEventListener("pointerleave", () => point(-1));
    canvas.addEventListener("blur", () => point(-1));
    canvas.addEventListener("keydown", event => {
      const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (event.key === "Escape") point(-1);
      if (!step || !points.length) return;
      event.preventDefault();
      const seen = points.map((_, i) => i).filter(i => !hidden.has(points[i].label));
      if (pointed < 0) { if (seen.length) point(seen[0]); return; }
      // The next point in that direction: near, and not too far aside.
      const [x, y] = frame.at[pointed];
      let best = -1, gap = Infinity;
      for (const i of seen) {
        const dx = frame.at[i][0] - x, dy = frame.at[i][1] - y, ahead = dx * step[0] + dy * step[1], aside = Math.abs(dx * step[1]) + Math.abs(dy * step[0]);
        if (ahead > .5 && ahead + 2 * aside < gap) { gap = ahead + 2 * aside; best = i; }
      }
      if (best >= 0) point(best);
    });
    for (const button of $$(figure, ".legend button")) button.addEventListener("click", () => {
      const label = Number(button.dataset.label), on = hidden.has(label);
      on ? hidden.delete(label) : hidden.add(label);
      button.setAttribute("aria-pressed", on);
      pointed = -1; draw();
    });
    for (const button of $$(figure, ".colors button")) button.addEventListener("click", () => {
      byConfidence = button.dataset.color === "confidence";
      $$(figure, ".colors button").forEach(other => other.setAttribute("aria-pressed", other === button));
      $(figure, ".sure").hidden = !byConfidence;
      draw();
    });
    for (const button of $$(figure, ".views button")) button.addEventListener("click", () => {
      view = Number(button.dataset.view);
      $$(figure, ".views button").forEach(other => other.setAttribute("aria-pressed", other === button));
      load(); draw();
    });
    load(); draw();
    // What is on the screen goes to the printer: a canvas that changes its size while a page is printed comes out empty.
    const redraw = () => { if (!window.matchMedia("print").matches) draw(); };
    new ResizeObserver(redraw).observe(plane);
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  }
})();
