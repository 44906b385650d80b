"""Runs the notebook and writes its outputs into it, and the same as a page of the handbook:
``python docs/run_notebook.py``, as `make docs` does. Jupyter is not needed."""

import ast
import base64
import contextlib
import io
import json
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

FOLDER = Path(__file__).parent
BOOK, PAGE = FOLDER / "notebook.ipynb", FOLDER / "notebook.md"


def main() -> None:
    plt.switch_backend("Agg")
    book = json.loads(BOOK.read_text(encoding="utf-8"))
    known: dict[str, Any] = {}
    lines, count = [], 0
    for cell in book["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            lines += [source, ""]
            continue
        count += 1
        cell["execution_count"] = count
        cell["outputs"] = run(source, known, count)
        lines += [f"```python\n{source}\n```", ""]
        for number, output in enumerate(cell["outputs"]):
            lines += [as_markdown(output, f"notebook_{count}_{number}.png"), ""]
    BOOK.write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def run(source: str, known: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """The outputs of a cell: what it prints, the value of its last line, its figures."""
    *statements, last = ast.parse(source).body
    is_value = isinstance(last, ast.Expr)
    body = ast.Module(statements if is_value else [*statements, last], [])
    value, printed = None, io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(body, "notebook", "exec"), known)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "notebook", "eval"), known)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        outputs.append({"output_type": "stream", "name": "stdout", "text": text})
    if value is not None:
        outputs.append(
            {
                "output_type": "execute_result",
                "execution_count": count,
                "metadata": {},
                "data": {"text/plain": repr(value).splitlines(keepends=True)},
            }
        )
    for number in plt.get_fignums():
        picture = io.BytesIO()
        plt.figure(number).savefig(picture, format="png", dpi=80, metadata={"Software": None})
        plt.close(number)
        data = {"image/png": base64.b64encode(picture.getvalue()).decode("ascii")}
        outputs.append({"output_type": "display_data", "metadata": {}, "data": data})
    return outputs


def as_markdown(output: dict[str, Any], name: str) -> str:
    """An output as text, or as an image in the folder ``images``."""
    if "text" in output:
        return "```text\n" + "".join(output["text"]).rstrip() + "\n```"
    if "image/png" in output["data"]:
        (FOLDER / "images" / name).write_bytes(base64.b64decode(output["data"]["image/png"]))
        return f"![a figure of the cell above](images/{name})"
    return "```text\n" + "".join(output["data"]["text/plain"]).rstrip() + "\n```"


if __name__ == "__main__":
    main()
