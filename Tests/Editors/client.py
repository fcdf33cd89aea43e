"""Talks to `agctl lsp` as an editor does, with the client of pygls: PROGRAM and a daemon's SOCKET are the arguments.

`Scripts/editor-test` runs it. The tests in Swift have a client of their own, which knows only what they need; this
one decodes every message by the types of the protocol.
"""

import asyncio
import os
import pathlib
import sys
import tempfile

from lsprotocol import types
from pygls.lsp.client import LanguageClient

LIBRARY = """\
components:
  # Shows a number.
  Gauge:
    let: [title]
    binding: [value]
    computed: { half: value / 2 }
"""

SCENE = """\
agd: 1
import: lib.yaml
nodes:
  - id: player
    state:
      # From 0 to 1.
      volume: 0.5
    computed:
      percent: volume * 100.0
    children:
      - { id: knob, component: Gauge, let: { title: "🎧" }, binding: { value: $volume } }
"""


class Editor:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.client = LanguageClient("agd-test", "1")
        self.told = {}
        self.news = asyncio.Event()

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def publish(parameters):
            self.told[parameters.uri] = parameters.diagnostics
            self.news.set()

    def uri(self, name):
        return (self.folder / name).as_uri()

    async def begin(self, program):
        await self.client.start_io(program, "lsp")
        return await self.client.initialize_async(
            types.InitializeParams(
                process_id=os.getpid(),
                root_uri=self.folder.as_uri(),
                capabilities=types.ClientCapabilities(
                    text_document=types.TextDocumentClientCapabilities(
                        publish_diagnostics=types.PublishDiagnosticsClientCapabilities(),
                        hover=types.HoverClientCapabilities(content_format=[types.MarkupKind.Markdown]),
                    )
                ),
            )
        )

    def open(self, name, text):
        self.client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(self.uri(name), "yaml", 1, text))
        )

    def change(self, name, version, text):
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version, self.uri(name)),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    async def faults(self, name, until):
        """Waits until the faults of a file are told and as wanted."""
        while self.uri(name) not in self.told or not until(self.told[self.uri(name)]):
            self.news.clear()
            await asyncio.wait_for(self.news.wait(), 20)
        return self.told[self.uri(name)]

    def place(self, kind, name, text, words, **others):
        """The parameters of a request about the place behind the first occurrence of some words."""
        before = text[: text.index(words) + len(words)]
        line = before.count("\n")
        character = len(before[before.rfind("\n") + 1 :].encode("utf-16-le")) // 2
        return kind(
            text_document=types.TextDocumentIdentifier(self.uri(name)),
            position=types.Position(line, character),
            **others,
        )


async def main(program, socket):
    with tempfile.TemporaryDirectory() as folder:
        editor = Editor(folder)
        (editor.folder / "lib.yaml").write_text(LIBRARY)
        began = await editor.begin(program)
        assert began.capabilities.hover_provider and began.capabilities.definition_provider, began
        editor.client.initialized(types.InitializedParams())
        editor.open("scene.yaml", SCENE)
        await editor.faults("scene.yaml", lambda found: not found)

        wrong = SCENE.replace("volume * 100.0", "volumee * 100.0")
        editor.change("scene.yaml", 2, wrong)
        (fault,) = await editor.faults("scene.yaml", lambda found: len(found) == 1)
        assert fault.severity == types.DiagnosticSeverity.Error and fault.range.start.line == 8, fault
        assert "did you mean 'volume'" in fault.message, fault
        editor.change("scene.yaml", 3, SCENE)
        await editor.faults("scene.yaml", lambda found: not found)

        hover = await editor.client.text_document_hover_async(
            editor.place(types.HoverParams, "scene.yaml", SCENE, "perce")
        )
        assert "`computed percent: double`" in hover.contents.value, hover
        if socket:
            assert "now: `50.0`" in hover.contents.value, hover
        component = await editor.client.text_document_hover_async(
            editor.place(types.HoverParams, "scene.yaml", SCENE, "component: Gau")
        )
        assert "Shows a number." in component.contents.value, component

        found = await editor.client.text_document_completion_async(
            editor.place(types.CompletionParams, "scene.yaml", SCENE, "value: $vo")
        )
        items = found.items if isinstance(found, types.CompletionList) else found
        assert "volume" in [item.label for item in items], found

        definition = await editor.client.text_document_definition_async(
            editor.place(types.DefinitionParams, "scene.yaml", SCENE, "component: Gau")
        )
        definition = definition[0] if isinstance(definition, (list, tuple)) else definition
        assert definition.uri == editor.uri("lib.yaml") and definition.range.start.line == 2, definition
        references = await editor.client.text_document_references_async(
            editor.place(
                types.ReferenceParams, "scene.yaml", SCENE, "      volu", context=types.ReferenceContext(True)
            )
        )
        assert [place.range.start.line for place in references] == [6, 8, 10], references

        await editor.client.shutdown_async(None)
        editor.client.exit(None)
        await asyncio.wait_for(editor.client.stop(), 20)
    print("editor-test: faults, hover, completion, definition and references are as they should be")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""))
