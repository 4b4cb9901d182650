"use strict";
// The scatter: drawn on one canvas, pointed at on a second one, so that a move redraws little.
(() => {
  const { $, $$, text, rowsOf } = window.nearfar;
  const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const make = (tag, classes, words) => {
    const element = document.createElement(tag);
    if (classes) element.className = classes;
    if (words !== undefined) element.textContent = words;
    return element;
  };
  const shapeOf = label => (label % 8 + Math.floor(label / 8)) % 6;
  const quantile = (sorted, share) => sorted[Math.round(share * (sorted.length - 1))];

  for (const plane of $$(document, ".plane")) {
    const figure = plane.closest("figure"), [canvas, top] = $$(plane, "canvas"), card = $(figure, ".card");
    const table = rowsOf(figure), head = table[0], rows = table.slice(1), squares = plane.dataset.kind === "squares";
    const outlines = plane.dataset.shapes.split("|"), shapes = outlines.map(d => new Path2D(d));
    const names = plane.dataset.names?.split("\n") ?? [], views = Number(plane.dataset.views);
    const column = name => head.indexOf(name), first = head.length - 2 * views;
    const sure = column("confidence") > 0 || column("mean confidence") > 0;
    const hidden = new Set();
    let view = 0, byConfidence = false, pointed = -1, lit = -1, points = [], frame = null, level = null;

    // Numbers of clusters: what every leaf goes into when k are left.
    const control = $(figure, ".levels"), found = control ? Number(control.dataset.k) : 0;
    const [leaves, ...joins] = control ? text($(figure, "template.joins")).trim().split("\n").map(line => line.split(" ").map(Number)) : [[]];
    const goesAt = k => {
      const goes = joins.map((_, i) => i).concat(joins.length);
      for (let i = joins.length - k; i >= 0; i--) goes[joins[i][0]] = goes[joins[i][1]];
      return goes;
    };
    const labelOf = (p, goes) => goes && p.leaf >= 0 ? goes[p.leaf] : p.cluster;

    const load = () => {
      const value = (row, name) => row[column(name)];
      points = squares
        ? rows.filter(row => Number(row[0]) === view).map(row => ({ x: +row[1], y: +row[2], count: +row[3], cluster: +row[4], share: row[5], id: row[6], membership: row[7], confidence: sure ? +row[8] : null }))
        : rows.map(row => ({
          id: row[0], cluster: +row[1], membership: row[2], near: row[3] ? row[3].split(" ").map(Number) : [],
          confidence: sure ? +value(row, "confidence") : null, leaf: column("leaf") > 0 ? +value(row, "leaf") : -1,
          x: +row[first + 2 * view], y: +row[first + 1 + 2 * view],
        }));
      relabel();
    };
    const relabel = () => {
      const goes = level ? goesAt(level) : null;
      for (const p of points) p.label = labelOf(p, goes);
      pointed = -1;
    };
    const fit = () => {
      const box = plane.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
      for (const c of [canvas, top]) { c.width = box.width * ratio; c.height = box.height * ratio; c.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0); }
      // Few points far out do not set the scale: they are drawn at the edge.
      const range = key => {
        const all = points.map(p => p[key]).sort((a, b) => a - b), least = all[0], most = all[all.length - 1];
        if (all.length < 40) return [least, most];
        const low = quantile(all, .01), high = quantile(all, .99), room = .35 * (high - low);
        return [Math.max(least, low - room), Math.min(most, high + room)];
      };
      const [[x0, x1], [y0, y1]] = [range("x"), range("y")], pad = 22;
      let sx = (box.width - 2 * pad) / (x1 - x0 || 1), sy = (box.height - 2 * pad) / (y1 - y0 || 1);
      // One unit is as long across as up, where that does not make a line of the picture.
      if (Math.max(sx / sy, sy / sx) < 2.2) sx = sy = Math.min(sx, sy);
      const clamp = (x, end) => Math.max(8, Math.min(end - 8, x));
      frame = { width: box.width, height: box.height, place: p => [clamp(box.width / 2 + (p.x - (x0 + x1) / 2) * sx, box.width), clamp(box.height / 2 - (p.y - (y0 + y1) / 2) * sy, box.height)] };
      frame.at = points.map(frame.place);
      frame.grid = new Map();
      frame.at.forEach(([x, y], i) => { const key = (x >> 5) + "," + (y >> 5); (frame.grid.get(key) ?? frame.grid.set(key, []).get(key)).push(i); });
      frame.side = Math.max(4, Math.min(box.width, box.height) / 72);
    };
    const mark = (context, i, radius, color, edge) => {
      const [x, y] = frame.at[i], shape = shapes[shapeOf(points[i].label)];
      context.save();
      context.translate(x, y);
      context.scale(radius / 5, radius / 5);
      context.fillStyle = color;
      context.fill(shape);
      if (edge) { context.strokeStyle = edge; context.lineWidth = 5 / radius * .8; context.stroke(shape); }
      context.restore();
    };
    const draw = () => {
      if (!points.length) return;
      fit();
      const context = canvas.getContext("2d"), colors = [0, 1, 2, 3, 4, 5, 6, 7].map(c => style("--c" + c)), paper = style("--card");
      context.clearRect(0, 0, frame.width, frame.height);
      const most = squares ? points.reduce((most, p) => Math.max(most, p.count), 1) : 1;
      const room = Math.sqrt(frame.width * frame.height / points.length), radius = Math.max(2, Math.min(5, room * .2));
      const sizes = new Map();
      for (const p of points) sizes.set(p.label, (sizes.get(p.label) ?? 0) + 1);
      // Small clusters come last and so on top; by confidence the least certain points do.
      const order = points.map((_, i) => i), shades = ramp(style("--far"), style("--line"));
      if (byConfidence) order.sort((a, b) => points[b].confidence - points[a].confidence || a - b);
      else order.sort((a, b) => sizes.get(points[b].label) - sizes.get(points[a].label) || a - b);
      for (const i of order) {
        const p = points[i];
        if (hidden.has(p.label)) continue;
        context.globalAlpha = (squares ? .35 + .6 * Math.sqrt(p.count / most) : .88) * (lit < 0 || lit === p.label ? 1 : .12);
        const color = byConfidence ? shades(p.confidence) : colors[p.label % 8];
        const size = squares ? frame.side * (.28 + .42 * Math.sqrt(p.count / most)) : sizes.get(p.label) < 13 ? radius + 1.2 : radius;
        mark(context, i, size, color, squares ? null : paper);
      }
      context.globalAlpha = 1;
      label(context, colors, style("--ink"), style("--paper"));
      plane.dataset.drawn = points.length;
      over();
    };
    // From one colour at 0 to another at 1.
    const ramp = (from, to) => {
      const parts = color => [1, 3, 5].map(at => parseInt(color.slice(at, at + 2), 16)), [a, b] = [parts(from), parts(to)];
      return share => `rgb(${a.map((x, at) => Math.round(x + (b[at] - x) * Math.max(0, Math.min(1, share)))).join(" ")})`;
    };
    const called = label => (level ? null : names[label]) ?? String(label);
    // The name of each cluster on its most central point, or beside it where that place is taken.
    const label = (context, colors, ink, paper) => {
      const groups = new Map();
      points.forEach((p, i) => { if (!hidden.has(p.label)) (groups.get(p.label) ?? groups.set(p.label, []).get(p.label)).push(i); });
      context.font = "650 12px system-ui, sans-serif"; context.textAlign = "center"; context.textBaseline = "middle"; context.lineWidth = 1.5;
      const taken = [];
      for (const [label, members] of [...groups].sort((a, b) => b[1].length - a[1].length || a[0] - b[0])) {
        const mean = axis => quantile(members.map(i => frame.at[i][axis]).sort((a, b) => a - b), .5), [mx, my] = [mean(0), mean(1)];
        const [cx, cy] = members.map(i => frame.at[i]).reduce((a, b) => Math.hypot(a[0] - mx, a[1] - my) <= Math.hypot(b[0] - mx, b[1] - my) ? a : b);
        const words = called(label), width = context.measureText(words).width + 11, height = 18;
        // A name must not hide the whole of a small cluster.
        const small = members.every(i => Math.hypot(frame.at[i][0] - cx, frame.at[i][1] - cy) < 18);
        const aside = [[0, -20], [0, 20], [width / 2 + 14, 0], [-width / 2 - 14, 0], [width / 2 + 8, -20], [-width / 2 - 8, -20], [width / 2 + 8, 20], [-width / 2 - 8, 20], [0, -38], [0, 38]];
        const places = (small ? aside : [[0, 0], ...aside]).map(([dx, dy]) => [cx + dx, cy + dy]);
        const free = ([x, y]) => x > width / 2 + 1 && x < frame.width - width / 2 - 1 && y > height / 2 + 1 && y < frame.height - height / 2 - 1
          && !taken.some(([a, b, w]) => Math.abs(a - x) < (w + width) / 2 + 1 && Math.abs(b - y) < height + 1);
        const place = places.find(free);
        if (!place) continue;
        const [x, y] = place;
        taken.push([x, y, width]);
        context.globalAlpha = lit < 0 || lit === label ? 1 : .25;
        context.strokeStyle = colors[label % 8];
        if (x !== cx || y !== cy) { context.beginPath(); context.moveTo(cx, cy); context.lineTo(x, y); context.stroke(); }
        context.fillStyle = paper;
        context.beginPath(); context.roundRect(x - width / 2, y - height / 2, width, height, 5); context.fill(); context.stroke();
        context.fillStyle = ink; context.fillText(words, x, y + .5);
      }
      context.globalAlpha = 1;
      plane.dataset.labels = taken.length;
    };
    const over = () => {
      const context = top.getContext("2d");
      context.clearRect(0, 0, frame.width, frame.height);
      if (pointed < 0) return;
      const ink = style("--ink"), [x, y] = frame.at[pointed], near = points[pointed].near ?? [];
      context.strokeStyle = ink; context.lineWidth = 1.2;
      for (const j of near) { context.beginPath(); context.moveTo(x, y); context.lineTo(...frame.at[j]); context.stroke(); }
      for (const j of near) mark(context, j, 5, style("--c" + points[j].label % 8), ink);
      mark(context, pointed, 7, style("--c" + points[pointed].label % 8), ink);
    };

    // What is pointed at.
    const named = id => plane.dataset.named === "true" ? id : "row " + id, name = i => named(points[i].id);
    const line = (list, term, words) => list.append(make("dt", "", term), make("dd", "", words));
    const idle = [...card.childNodes];
    const point = i => {
      if (i === pointed) return;
      pointed = i;
      over();
      if (i < 0) { card.replaceChildren(...idle); return; }
      const p = points[i], list = make("dl");
      line(list, "cluster", squares && Number(p.share) < 1 ? `${p.label} (${Math.round(p.share * 100)} % of them)` : called(p.label));
      if (squares) line(list, "surest", named(p.id));
      if (sure) line(list, squares ? "mean confidence" : "confidence", `${(p.confidence * 100).toFixed(1)} %`);
      line(list, "membership", `${(p.membership * 100).toFixed(1)} %`);
      if (p.near?.length) line(list, "trusts", p.near.map(j => name(j) + (points[j].label === p.label ? "" : ` (in ${called(points[j].label)})`)).join(", "));
      card.replaceChildren(make("h3", "", squares ? `${p.count} point${p.count === 1 ? "" : "s"}` : name(i)), list);
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

    // The list of clusters: a press hides one, the pointer or the focus lights it up.
    const answers = (list) => {
      for (const button of $$(list, "button[data-label]")) {
        const label = Number(button.dataset.label);
        const light = on => () => { const now = on ? label : -1; if (lit !== now) { lit = now; draw(); } };
        button.setAttribute("aria-pressed", !hidden.has(label));
        button.addEventListener("click", () => {
          const on = hidden.has(label);
          on ? hidden.delete(label) : hidden.add(label);
          button.setAttribute("aria-pressed", on);
          lit = -1; pointed = -1; draw();
        });
        button.addEventListener("pointerenter", event => { if (event.pointerType === "mouse") light(true)(); });
        button.addEventListener("pointerleave", light(false));
        button.addEventListener("focus", () => { if (button.matches(":focus-visible")) light(true)(); });
        button.addEventListener("blur", light(false));
      }
    };
    const own = $(figure, ".which:not(.level)"), other = $(figure, ".which.level");
    if (own) answers(own);

    // Another number of clusters.
    const mixed = labels => [...labels].sort((a, b) => a - b);
    const listed = words => words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
    const relist = () => {
      const groups = new Map(), goes = goesAt(level), group = label => groups.get(label) ?? groups.set(label, { size: 0, drawn: 0, from: new Map() }).get(label);
      leaves.forEach((size, leaf) => { group(goes[leaf]).size += size; });
      for (const p of points) {
        const own = group(p.label);
        own.drawn++;
        own.from.set(p.cluster, (own.from.get(p.cluster) ?? 0) + 1);
      }
      other.replaceChildren(...[...groups].sort((a, b) => b[1].size - a[1].size || a[0] - b[0]).slice(0, 200).map(([label, { size, drawn, from }]) => {
        const one = make("div", "one"), button = make("button"), picture = $(own, "svg.mark").cloneNode(true), path = $(picture, "path");
        path.setAttribute("d", outlines[shapeOf(label)]); path.setAttribute("class", "f" + label % 8);
        button.type = "button"; button.dataset.label = label;
        button.append(picture, make("span", "", "cluster " + label));
        const parts = mixed([...from].filter(([, count]) => count > .02 * drawn).map(([cluster]) => cluster)).map(cluster => names[cluster] ?? cluster);
        const says = level > found ? `part of ${listed(parts)}` : parts.length > 1 ? `${listed(parts)} together` : "as in the answer";
        one.append(button, make("span", "soft", String(size)), make("p", "says", says));
        return one;
      }));
      answers(other);
    };
    const show = k => {
      const [slide, number] = [$(control, ".slide"), $(control, ".number")], most = joins.length + 1;
      k = Math.max(1, Math.min(most, Math.round(k) || found));
      level = k === found ? null : k;
      slide.value = k; slide.setAttribute("aria-valuetext", `${k} cluster${k === 1 ? "" : "s"}${level ? "" : ", the answer"}`);
      number.value = k;
      $$(control, "button").forEach(button => button.setAttribute("aria-pressed", Number(button.dataset.k) === k));
      hidden.clear(); lit = -1;
      relabel();
      own.hidden = level !== null; other.hidden = level === null;
      if (level) relist();
      else $$(own, "button[data-label]").forEach(button => button.setAttribute("aria-pressed", true));
      $(control, "p").textContent = !level ? `${k} cluster${k === 1 ? "" : "s"}: the answer.`
        : level < found ? `${k} cluster${k === 1 ? "" : "s"}: coarser than the answer of ${found}.` : `${k} clusters: finer than the answer of ${found}; the larger part of a cluster keeps its number.`;
      draw();
    };
    if (control) {
      $(control, ".slide").addEventListener("input", event => show(+event.target.value));
      $(control, ".number").addEventListener("change", event => show(+event.target.value));
      $$(control, "button").forEach(button => button.addEventListener("click", () => show(+button.dataset.k)));
      $$(document, `button[data-shows="${figure.id}"]`).forEach(button => button.addEventListener("click", () => { show(+button.dataset.k); figure.scrollIntoView(); $(control, ".slide").focus({ preventScroll: true }); }));
    }

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
