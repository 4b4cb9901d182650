"""What the clusters of a model are, in words and as tables."""

from __future__ import annotations

import html
import json
from typing import Any, NamedTuple

import numpy as np

from . import _nearfar


class Predictions(NamedTuple):
    """What is said of new points, an entry for each."""

    #: Cluster, or -1 for points that were rejected.
    labels: np.ndarray
    #: How sure the label is, from 0 to 1.
    confidence: np.ndarray
    #: The next best cluster; -1 if no other has any share.
    second: np.ndarray
    #: How far out the point lies, from 0 to 1; empty if the model cannot tell.
    outlier_scores: np.ndarray


class Explanation:
    """What the clusters of a model are: sizes, typical rows, columns that set them apart, rules, how sure.

    Printing it gives a text, and a notebook shows a table.

    Attributes
    ----------
    answer : str
        The answer in a sentence.
    clusters : list of dict
        What there is to say of every cluster: ``size``, ``exemplars``, ``borders``, ``marks``, ``rule``, ``nearest``,
        ``certainty`` and ``mean``.
    outliers : list
        The rows that lie farthest out, with their outlier scores.
    notes : list of str
        What to know about the numbers.
    feature_names : list of str
        Names of the columns.
    """

    def __init__(self, told: str) -> None:
        self._told = told
        record = json.loads(told)
        self.answer: str = record["answer"]
        self.clusters: list[dict[str, Any]] = record["clusters"]
        self.outliers: list[Any] = record["outliers"]
        self.notes: list[str] = record["notes"]
        self.feature_names: list[str] = record["feature_names"]

    def to_frame(self) -> Any:
        """Return a pandas frame with a row for every cluster (needs pandas).

        Returns
        -------
        frame : pandas.DataFrame
            Indexed by cluster, with the columns name, size, share, standing, confidence, stability, marks, rule,
            precision, recall, nearest, exemplars and sentence.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install pandas") from error
        rows = [_row(story) for story in self.clusters]
        return pandas.DataFrame(rows).set_index("cluster")

    def to_json(self) -> str:
        """Return everything as JSON, as ``nearfar explain --format json`` writes it."""
        return self._told

    def to_markdown(self) -> str:
        """Return a Markdown table with a row for every cluster."""
        return _nearfar.show_explanation(self._told, "markdown")

    def to_html(self) -> str:
        """Return a part of an HTML page; all names are escaped."""
        return _nearfar.show_explanation(self._told, "html")

    def __str__(self) -> str:
        return _nearfar.show_explanation(self._told, "text")

    def __repr__(self) -> str:
        return f"<Explanation: {self.answer}>"

    def _repr_html_(self) -> str:
        return self.to_html()


def _row(story: dict[str, Any]) -> dict[str, Any]:
    rule, nearest, certainty = story["rule"] or {}, story["nearest"] or {}, story["certainty"]
    return {
        "cluster": story["cluster"],
        "name": story["name"],
        "size": story["size"],
        "share": story["share"],
        "standing": certainty["standing"].replace("-", " "),
        "confidence": certainty["confidence"],
        "stability": certainty["stability"],
        "marks": "; ".join(mark["words"] for mark in story["marks"]),
        "rule": " and ".join(condition["words"] for condition in rule.get("conditions", [])),
        "precision": rule.get("precision"),
        "recall": rule.get("recall"),
        "nearest": nearest.get("cluster"),
        "exemplars": [row["id"] if row["id"] is not None else row["row"] for row in story["exemplars"]],
        "sentence": certainty["sentence"],
    }


class Drift:
    """How well new rows fit a model, and which of its clusters grew or shrank.

    Attributes
    ----------
    answer : str
        The answer in a sentence.
    clusters : list of dict
        Of every cluster ``cluster``, ``name``, ``share`` (with ``old``, ``new`` and ``usual``) and ``change``.
    homeless : dict or None
        Share of rows that lie farther out than 99 % of the old ones: ``old``, ``new`` and ``usual``.
    outlier_score : dict or None
        The mean outlier score, in the same way.
    """

    def __init__(self, told: str) -> None:
        record = json.loads(told)
        self.answer: str = record["answer"]
        self.clusters: list[dict[str, Any]] = record["clusters"]
        self.homeless: dict[str, Any] | None = record["homeless"]
        self.outlier_score: dict[str, Any] | None = record["outlier_score"]

    def to_frame(self) -> Any:
        """Return a pandas frame with a row for every cluster (needs pandas)."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install pandas") from error
        rows = [
            {
                "cluster": found["cluster"],
                "name": found["name"],
                "old": found["share"]["old"],
                "new": found["share"]["new"],
                "usual_least": found["share"]["usual"][0],
                "usual_most": found["share"]["usual"][1],
                "change": found["change"].replace("-", " "),
            }
            for found in self.clusters
        ]
        return pandas.DataFrame(rows).set_index("cluster")

    def __repr__(self) -> str:
        return f"<Drift: {self.answer}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th scope='row'>{found['cluster']} {html.escape(found['name'] or '')}</th>"
            f"<td>{found['share']['old']:.1%}</td><td>{found['share']['new']:.1%}</td>"
            f"<td>{found['change'].replace('-', ' ')}</td></tr>"
            for found in self.clusters
        )
        head = "<tr><th>cluster</th><th>old</th><th>new</th><th>change</th></tr>"
        return f"<p><b>{html.escape(self.answer)}</b></p><table><thead>{head}</thead><tbody>{rows}</tbody></table>"
