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

  window.nearfar = { $, $$, text, rowsOf };
})();
