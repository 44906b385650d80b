// Sorting is stable, keeps empty cells last, goes by value, not by what is shown, and stays below a line.
const value = cell => cell.dataset.value ?? cell.textContent;

function sort(head) {
  const place = head.cellIndex, number = "number" in head.dataset;
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  for (const body of head.closest("table").tBodies) {
    const rows = [...body.rows].filter(row => row.cells.length > 1).map(row => [value(row.cells[place]), row]);
    rows.sort(([a], [b]) => {
      if (a === "" || b === "") return (a === "") - (b === "");
      const order = number ? a - b : a.localeCompare(b);
      return down ? -order : order;
    });
    body.append(...rows.map(([, row]) => row));
  }
}

function filter(input) {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const body of input.closest(".table").querySelector("table").tBodies) for (const row of body.rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every(word => text.includes(word));
  }
}

document.addEventListener("click", event => {
  const head = event.target.closest("th[scope=col]");
  if (head) sort(head);
});
document.addEventListener("input", event => {
  if (event.target.matches(".table > input")) filter(event.target);
});
