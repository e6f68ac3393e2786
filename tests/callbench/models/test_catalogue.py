"""The catalogue: built-in profiles, the user's file, and what it says about mistakes (E5, E7)."""

from __future__ import annotations

from pathlib import Path

import pytest

from callbench.errors import ExitCode, UsageError
from callbench.models.catalogue import load_catalogue

THREE_LINES = """
[models.mine]
base_url = "https://llm.example/v1"
model = "some-model"
api_key_env = "MY_KEY"
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CALLBENCH_CONFIG", raising=False)


def fault(tmp_path: Path, text: str) -> str:
    path = tmp_path / "bad.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        load_catalogue(path)
    assert caught.value.exit_code == ExitCode.USAGE
    return str(caught.value)


class TestBuiltIn:
    def test_three_models(self) -> None:
        assert [profile.name for profile in load_catalogue()] == [
            "smollm2",
            "gemma3-270m",
            "needle3",
        ]

    @pytest.mark.parametrize("name", ["smollm2", "gemma3-270m"])
    def test_embedded_reasoning_models_ask_bound_and_repeatably(self, name: str) -> None:
        """DESIGN 3.3: asked freely they only repeat the schema; max_tokens 256."""
        profile = load_catalogue().profile(name)
        assert (profile.engine, profile.reply_mode) == ("llama", "json_schema")
        assert profile.roles == ("reasoning", "function")
        assert profile.params == {"max_tokens": 256, "temperature": 0.0, "seed": 7}
        assert profile.concurrency == 1

    def test_needle_is_a_function_model(self) -> None:
        profile = load_catalogue().profile("needle3")
        assert (profile.engine, profile.roles) == ("needle", ("function",))
        assert profile.function_mode == "tools"

    def test_every_weight_is_pinned(self) -> None:
        for profile in load_catalogue():
            assert profile.weights
            assert profile.license
            for file in profile.weights:
                assert len(file.sha256) == 64
                assert sum(part.size for part in file.parts) == file.size

    def test_no_path_of_a_machine_in_what_a_run_records(self) -> None:
        shown = load_catalogue().profile("smollm2").public()
        assert shown["base_url"] == "http://smollm2.embedded/v1"
        assert list(shown["weights"]) == ["SmolLM2-135M-Instruct.Q4_1.gguf"]


class TestUnknownModel:
    @pytest.mark.trap("E5")
    def test_names_the_nearest(self) -> None:
        """E5: a model that does not exist is exit 2, not success."""
        with pytest.raises(UsageError, match="no model 'smolm2'") as caught:
            load_catalogue().profile("smolm2")
        assert "Did you mean smollm2?" in caught.value.remedy
        assert caught.value.exit_code == 2

    def test_case_does_not_hide_the_nearest(self) -> None:
        with pytest.raises(UsageError) as caught:
            load_catalogue().profile("NEEDLE")
        assert "Did you mean needle3?" in caught.value.remedy

    def test_lists_all_when_nothing_is_near(self) -> None:
        with pytest.raises(UsageError) as caught:
            load_catalogue().profile("zzz")
        assert "Did you mean" not in caught.value.remedy
        assert "smollm2, gemma3-270m, needle3" in caught.value.remedy


class TestUserFile:
    @pytest.mark.trap("E7")
    def test_three_lines_make_an_endpoint(self, tmp_path: Path) -> None:
        """E7."""
        Path("callbench.toml").write_text(THREE_LINES, encoding="utf-8")
        profile = load_catalogue().profile("mine")
        assert profile.engine == "http"
        assert profile.base_url == "https://llm.example/v1"
        assert (profile.model, profile.api_key_env) == ("some-model", "MY_KEY")
        assert profile.roles == ("reasoning", "function")
        assert (profile.reply_mode, profile.function_mode) == ("text", "json_schema")
        assert profile.params == {}
        assert profile.source == "callbench.toml"

    def test_all_keys(self, tmp_path: Path) -> None:
        path = tmp_path / "all.toml"
        path.write_text(
            THREE_LINES
            + """
            roles = ["reasoning"]
            function_mode = "tools"
            reply_mode = "json_object"
            system_first = true
            max_tokens = 100
            temperature = 1
            seed = 0
            extra = {top_p = 0.5}
            timeout = 2.5
            concurrency = 8
            price_input = 0.15
            price_output = 0
            license = "ours"
            description = "a model"
            """,
            encoding="utf-8",
        )
        profile = load_catalogue(path).profile("mine")
        assert profile.params == {"max_tokens": 100, "temperature": 1.0, "seed": 0, "top_p": 0.5}
        assert profile.roles == ("reasoning",)
        assert (profile.function_mode, profile.reply_mode) == ("tools", "json_object")
        assert (profile.system_first, profile.timeout, profile.concurrency) == (True, 2.5, 8)
        assert (profile.price_input, profile.price_output) == (0.15, 0.0)
        assert profile.public()["price_input"] == 0.15

    def test_a_built_in_profile_can_be_changed(self, tmp_path: Path) -> None:
        path = tmp_path / "mine.toml"
        path.write_text("[models.smollm2]\nmax_tokens = 12\n", encoding="utf-8")
        profile = load_catalogue(path).profile("smollm2")
        assert profile.params["max_tokens"] == 12
        assert profile.weights == load_catalogue().profile("smollm2").weights

    def test_a_gguf_of_ones_own(self, tmp_path: Path) -> None:
        path = tmp_path / "mine.toml"
        path.write_text('[models.own]\nengine = "llama"\npath = "x.gguf"\n', encoding="utf-8")
        profile = load_catalogue(path).profile("own")
        assert (profile.model, profile.base_url) == ("own", "http://own.embedded/v1")

    def test_variable_before_working_directory_and_option_before_both(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("callbench", "by_variable", "by_option"):
            (tmp_path / f"{name}.toml").write_text(
                THREE_LINES.replace("mine", name), encoding="utf-8"
            )
        assert "callbench" in load_catalogue().profiles
        monkeypatch.setenv("CALLBENCH_CONFIG", "by_variable.toml")
        assert "by_variable" in load_catalogue().profiles
        assert "callbench" not in load_catalogue().profiles
        assert "by_option" in load_catalogue(Path("by_option.toml")).profiles

    def test_a_named_file_must_exist(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(UsageError, match=r"none\.toml: there is no such file .*--config"):
            load_catalogue(Path("none.toml"))
        monkeypatch.setenv("CALLBENCH_CONFIG", "gone.toml")
        with pytest.raises(UsageError, match=r"gone\.toml: there is no such file .*CALLBENCH_CON"):
            load_catalogue()


class TestFaults:
    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ("base_ulr = 'x'", "unknown key 'base_ulr'.\nDid you mean base_url?"),
            ("max_token = 1", "unknown key 'max_token'.\nDid you mean max_tokens?"),
            ("timeout = '5'", "timeout must be a number above 0, not '5'"),
            ("timeout = 0", "timeout must be a number above 0, not 0"),
            ("timeout = inf", "timeout must be a number above 0, not inf"),
            ("temperature = true", "temperature must be a number of at least 0, not True"),
            ("temperature = -1", "temperature must be a number of at least 0, not -1"),
            ("temperature = nan", "temperature must be a number of at least 0, not nan"),
            ("max_tokens = 0", "max_tokens must be a whole number of at least 1, not 0"),
            ("max_tokens = 1.5", "max_tokens must be a whole number of at least 1, not 1.5"),
            ("seed = true", "seed must be a whole number of at least 0, not True"),
            ("system_first = 1", "system_first must be true or false, not 1"),
            ("roles = []", "roles must be a list of reasoning, function, not []"),
            ("roles = 'reasoning'", "roles must be a list of reasoning, function"),
            ("roles = ['functon']", "not 'functon'.\nDid you mean function?"),
            ("function_mode = 'tool'", "prompt, not 'tool'.\nDid you mean tools?"),
            ("reply_mode = 5", "reply_mode must be one of text, json_object, json_schema, not 5"),
            ("extra = 1", "extra must be a table of request parameters"),
            ("extra = {messages = []}", "extra must not set messages"),
            ("license = 1", "license must be a text, not 1"),
            ("context = 1", "context must be a whole number of at least 512"),
            ("weights = 1", "weights must be a list of tables"),
        ],
    )
    def test_names_file_table_key_and_what_is_right(
        self, tmp_path: Path, line: str, said: str
    ) -> None:
        message = fault(tmp_path, THREE_LINES + line)
        assert message.startswith(f"{tmp_path / 'bad.toml'}: [models.mine]: ")
        assert said in message

    def test_an_unknown_key_far_from_all_lists_them(self, tmp_path: Path) -> None:
        assert "Known keys: engine, base_url, model" in fault(tmp_path, THREE_LINES + "qqq = 1")

    @pytest.mark.parametrize("key", ["base_url", "model"])
    def test_a_missing_line_shows_the_three(self, tmp_path: Path, key: str) -> None:
        lines = [line for line in THREE_LINES.splitlines() if not line.startswith(key)]
        message = fault(tmp_path, "\n".join(lines))
        assert f"[models.mine]: {key} is missing." in message
        assert '[models.mine]\nbase_url = "https://' in message

    def test_a_key_in_the_file_is_refused_and_not_shown(self, tmp_path: Path) -> None:
        message = fault(tmp_path, THREE_LINES + "api_key = 'sk-very-secret'")
        assert "Keys do not belong in this file: set api_key_env" in message
        assert "sk-very-secret" not in message

    def test_a_key_where_a_variable_is_named_is_refused_and_not_shown(self, tmp_path: Path) -> None:
        message = fault(tmp_path, THREE_LINES.replace("MY_KEY", "sk-very-secret"))
        assert "must be the name of an environment variable" in message
        assert "sk-very-secret" not in message

    @pytest.mark.parametrize(
        "url", ["https://u:sk-secret@h/v1", "https://h/v1?key=sk-secret", "https://h/#sk-secret"]
    )
    def test_credentials_in_an_address_are_refused_and_not_shown(
        self, tmp_path: Path, url: str
    ) -> None:
        message = fault(tmp_path, THREE_LINES.replace("https://llm.example/v1", url))
        assert "base_url must not hold a user, a password, a query or a fragment" in message
        assert "sk-secret" not in message

    @pytest.mark.parametrize("url", ["llm.example/v1", "ftp://llm.example", "http://[bad/v1", ""])
    def test_an_address_must_be_one(self, tmp_path: Path, url: str) -> None:
        message = fault(tmp_path, THREE_LINES.replace("https://llm.example/v1", url))
        assert "base_url must be an address such as" in message

    def test_a_llama_profile_needs_its_file(self, tmp_path: Path) -> None:
        assert "path is missing" in fault(tmp_path, '[models.m]\nengine = "llama"\n')

    def test_other_tables(self, tmp_path: Path) -> None:
        assert "unknown table [model]" in fault(tmp_path, "[model.x]\n")
        assert "models must be tables" in fault(tmp_path, "models = 1\n")
        assert "models.x must be a table" in fault(tmp_path, "[models]\nx = 1\n")

    def test_a_name_must_fit_in_a_file_name(self, tmp_path: Path) -> None:
        assert "a model's name is letters" in fault(tmp_path, "[models.'a/b']\n")

    def test_not_toml(self, tmp_path: Path) -> None:
        assert "bad.toml: not valid TOML" in fault(tmp_path, "[models")

    def test_not_utf8(self, tmp_path: Path) -> None:
        path = tmp_path / "latin.toml"
        path.write_bytes(b"# caf\xe9")
        with pytest.raises(UsageError, match=r"latin\.toml: not UTF-8 \(byte 5\)"):
            load_catalogue(path)

    @pytest.mark.parametrize(
        ("old", "new", "said"),
        [
            ('file = "w"', 'file = "../w"', "weights[0]: file must be a plain file name"),
            ('sha256 = "f', 'sha256 = "g', "weights[0]: sha256 must be a SHA-256"),
            ("size = 2", "sizes = 2", "weights[0]: unknown key 'sizes'.\nDid you mean size?"),
            ("size = 2\n", "", "weights[0]: size is missing"),
            ("size = 1,", "", "weights[0]: parts[0]: size is missing"),
        ],
    )
    def test_weights(self, tmp_path: Path, old: str, new: str, said: str) -> None:
        digest = "f" * 64
        text = f"""
[models.own]
engine = "llama"
[[models.own.weights]]
file = "w"
sha256 = "{digest}"
size = 2
parts = [{{ package = "p", size = 1, version = "1", member = "m", sha256 = "{digest}" }}]
"""
        path = tmp_path / "good.toml"
        path.write_text(text, encoding="utf-8")
        assert load_catalogue(path).profile("own").weights[0].parts[0].package == "p"
        assert said in fault(tmp_path, text.replace(old, new, 1))
