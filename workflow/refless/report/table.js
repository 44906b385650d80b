// Sorting is stable, keeps empty cells last and goes by value, not by what is shown.
const value = cell => cell.dataset.value ?? cell.textContent;

// Of a folded table, as many rows are shown as before, from the top.
const LEADING = 3;

function sort(head) {
  const place = head.cellIndex, number = "number" in head.dataset;
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const body = head.closest("table").tBodies[0];
  const rows = [...body.rows].map(row => [value(row.cells[place]), row]);
  rows.sort(([a], [b]) => {
    if (a === "" || b === "") return (a === "") - (b === "");
    const order = number ? a - b : a.localeCompare(b);
    return down ? -order : order;
  });
  body.append(...rows.map(([, row]) => row));
  [...body.rows].forEach((row, i) => row.classList.toggle("lead", i < LEADING));
}

function filter(input) {
  const more = input.parentElement.querySelector(".more");
  if (more && input.value) more.open = true;
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of input.closest(".table").querySelector("tbody").rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every(word => text.includes(word));
  }
}

// A link to something that is folded unfolds it.
function unfold(name) {
  const target = name && document.getElementById(name);
  if (!target) return;
  for (let at = target; at; at = at.parentElement) {
    if (at.tagName === "DETAILS") at.open = true;
  }
  target.scrollIntoView();
}

document.addEventListener("click", event => {
  const head = event.target.closest("th[scope=col]");
  if (head) sort(head);
  const link = event.target.closest("a[href^='#']");
  if (link && link.hash === location.hash) unfold(link.hash.slice(1));
});
document.addEventListener("input", event => {
  if (event.target.matches(".table > input")) filter(event.target);
});
addEventListener("hashchange", () => unfold(location.hash.slice(1)));
unfold(location.hash.slice(1));
