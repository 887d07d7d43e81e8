"""A coding agent's side of hooks: a home of its own, and events as Claude Code sends them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from standfast.interfaces.hooks import client

SECONDS = 60


@dataclass
class Agent:
    """Claude Code in a project; ``fire`` runs what its settings say for an event."""

    home: Path
    project: Path
    session: str = "0b6f2b1e-9a4c-4f3e-8f57-2f3f4f1d6c11"
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def settings(self) -> Path:
        return self.home / ".claude" / "settings.json"

    @property
    def transcript(self) -> Path:
        return self.home / "transcript.jsonl"

    @property
    def env(self) -> dict[str, str]:
        own = {"HOME": str(self.home), "XDG_DATA_HOME": str(self.home / "data")}
        return {**os.environ, **own, **self.environment}

    def standfast(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "standfast.interfaces.cli", *words],
            env=self.env,
            cwd=self.project,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def says(self, text: str, uuid: str) -> None:
        """The agent's words, as its own log has them."""
        entry = {
            "type": "assistant",
            "uuid": uuid,
            "message": {"role": "assistant", "content": [{"type": "text", "text": text}]},
        }
        with open(self.transcript, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def fire(self, event: str, **more: Any) -> list[subprocess.CompletedProcess[str]]:
        """Every command that the settings name for it, in a shell as the agent runs it."""
        hooks = json.loads(self.settings.read_text("utf-8"))["hooks"].get(event, [])
        told = json.dumps(
            {
                "session_id": self.session,
                "transcript_path": str(self.transcript),
                "cwd": str(self.project),
                "hook_event_name": event,
                **more,
            }
        )
        return [
            subprocess.run(
                hook["command"],
                shell=True,
                input=told,
                env=self.env,
                cwd=self.project,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
            for entry in hooks
            for hook in entry["hooks"]
        ]


def run_client(told: str, env: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-IS", client.__file__, *words],
        input=told,
        env=env,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
