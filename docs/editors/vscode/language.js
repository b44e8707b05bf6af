// Gives `.asm` files that no other extension claims the language `tdl`, if they are part of a
// project or are written in the dialect.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");

/** What only this dialect has; GNU's `.loc` and `.ident` have two numbers and a text. */
const MARKS = new RegExp(
  '^[^;"\\n]*?(?<![\\w$%.])\\.(?:(?:PROG|DATA|BLNK)\\.' +
    "|(?:INTERN|PABS|PREL|PHEX|PBIN|PSYM|LADDR|I8080|OPSYN|MASYN|SYSYN|PRGEND)" +
    "|LOC[ \\t]+(?!\\d+[ \\t]+\\d)\\S+|(?:IDENT|ENTRY)[ \\t]+[A-Z$%.][\\w$%.]*" +
    "|DEFINE[ \\t]+[\\w$%.]+[ \\t]*(?:\\[[^\\]]*\\])?[ \\t]*=[ \\t]*\\[" +
    ")(?![\\w$%.])",
  "im",
);

/** Whether a folder above a file has a project file, as tdlasm looks for one. */
function isInProject(file) {
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    if (fs.existsSync(path.join(folder, "tdl.toml"))) return true;
    if (folder === path.dirname(folder)) return false;
  }
}

const isOurs = (text, file) => MARKS.test(text) || isInProject(file);

/** Claims documents when opened and when saved; once, as the user may choose another language. */
function claim() {
  const claimed = new WeakSet();
  const look = (document) => {
    const { languageId, fileName } = document;
    if (languageId !== "plaintext" || !/\.asm$/i.test(fileName) || claimed.has(document)) return;
    if (!isOurs(document.getText(), fileName)) return;
    claimed.add(document);
    return vscode.languages.setTextDocumentLanguage(document, "tdl");
  };
  vscode.workspace.textDocuments.forEach(look);
  return [
    vscode.workspace.onDidOpenTextDocument(look),
    vscode.workspace.onDidSaveTextDocument(look),
  ];
}

module.exports = { claim, isOurs };
