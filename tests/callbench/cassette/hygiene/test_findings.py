"""Findings in the forms that CI systems read."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from callbench.cassette.hygiene.findings import Finding, github, junit


def test_github_escapes() -> None:
    # https://docs.github.com/actions: % CR LF in data; also : and , in properties
    finding = Finding("a,b:c.jsonl", 3, "key", "100% wrong\nreally", "do\r\nthis")
    assert github([finding]) == (
        "::error file=a%2Cb%3Ac.jsonl,line=3,title=cassette%3A key::"
        "100%25 wrong%0Areally%0Ado%0D%0Athis\n"
    )


def test_github_of_a_whole_file_names_no_line() -> None:
    assert (
        github([Finding("a", 0, "size", "big")]) == "::error file=a,title=cassette%3A size::big\n"
    )


def test_junit() -> None:
    found = [
        Finding("a.jsonl", 2, "key", "wrong\x00 <key>", "rekey"),
        Finding("a.jsonl", 4, "key", "wrong too"),
        Finding("a.jsonl", 5, "damaged", "broken"),
    ]
    root = ET.fromstring(junit("c", {"a.jsonl": ["key", "order"], "b.jsonl": ["key"]}, found))
    first, second = root.findall("testsuite")
    assert (first.get("name"), first.get("tests"), first.get("failures")) == ("a.jsonl", "3", "2")
    assert (second.get("tests"), second.get("failures")) == ("1", "0")
    failed = {case.get("name"): case.findall("failure") for case in first.findall("testcase")}
    assert {name: len(all_) for name, all_ in failed.items()} == {
        "key": 1,
        "order": 0,
        "damaged": 1,
    }
    text = failed["key"][0].text or ""
    assert "a.jsonl:2: key: wrong\ufffd <key>" in text
    assert "a.jsonl:4" in text
