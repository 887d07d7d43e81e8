"""Completions for a shell, written from the parser. Pure."""

from __future__ import annotations

import argparse
from collections.abc import Iterator


def script(shell: str, parser: argparse.ArgumentParser) -> str:
    words = dict(_words(parser, ()))
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](words)


Words = dict[tuple[str, ...], list[str]]


def _words(
    parser: argparse.ArgumentParser, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """What may follow each command: the commands inside of it, and its long options."""
    found: list[str] = []
    inside: dict[str, argparse.ArgumentParser] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            inside = dict(action.choices)
        elif action.help is not argparse.SUPPRESS:
            found += [flag for flag in action.option_strings if flag.startswith("--")]
            if not action.option_strings and action.choices:
                found += map(str, action.choices)
    yield path, [*inside, *found]
    for name, one in inside.items():
        yield from _words(one, (*path, name))


def _cases(words: Words, *, quote: str = '"') -> Iterator[str]:
    for path, following in words.items():
        yield f"    {quote}{' '.join(path)}{quote}) words={quote}{' '.join(following)}{quote} ;;"


def _bash(words: Words) -> str:
    names = "|".join(sorted({word for path in words for word in path}))
    cases = "\n".join(_cases(words))
    return f"""# standfast: eval "$(standfast completion bash)"
_standfast() {{
  local path="" word words=""
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$word" in {names}) path="${{path:+$path }}$word" ;; esac
  done
  case "$path" in
{cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
  [ ${{#COMPREPLY[@]}} -eq 0 ] && COMPREPLY=($(compgen -f -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -F _standfast standfast
"""


def _zsh(words: Words) -> str:
    return "autoload -U +X bashcompinit && bashcompinit\n" + _bash(words)


def _fish(words: Words) -> str:
    lines = ["# standfast: standfast completion fish | source"]
    for path, following in words.items():
        seen = " ".join(f"__fish_seen_subcommand_from {name};" for name in path).replace(
            "; __fish", "; and __fish"
        )
        when = seen.rstrip(";") or "__fish_use_subcommand"
        for word in following:
            option = f"-l {word[2:]}" if word.startswith("--") else f"-a {word}"
            lines.append(f"complete -c standfast -f -n '{when}' {option}")
    return "\n".join(lines) + "\n"
