"use strict";
(function () {
  const root = document.documentElement;
  document.getElementById("theme").addEventListener("click", function () {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  function value(cell) {
    return cell.dataset.v !== undefined ? Number(cell.dataset.v) : cell.classList.contains("n") ? NaN : cell.textContent;
  }
  function order(a, b) {
    if (typeof a === "string") return a.localeCompare(b);
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
    return a - b;
  }
  document.querySelectorAll("table.sortable").forEach(function (table) {
    table.querySelectorAll("thead th").forEach(function (head, column) {
      head.addEventListener("click", function () {
        const down = head.getAttribute("aria-sort") === "ascending";
        table.querySelectorAll("thead th").forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const body = table.tBodies[0];
        const rows = Array.from(body.rows).map((row) => [value(row.cells[column]), row]);
        rows.sort((a, b) => (Number.isNaN(a[0]) || Number.isNaN(b[0]) ? 1 : down ? -1 : 1) * order(a[0], b[0]));
        rows.forEach((pair) => body.appendChild(pair[1]));
      });
    });
  });
})();
