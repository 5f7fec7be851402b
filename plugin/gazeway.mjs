// Generated from adapters/command/plugin-launcher.ts by npm run docs.
// adapters/command/plugin-launcher.ts
import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath, pathToFileURL } from "node:url";

// src/assistants/installed.ts
import { realpathSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";

// src/text/search-path.ts
import { posix, win32 } from "node:path";
var OF_PACKAGES = /[\\/]node_modules[\\/]\.bin[\\/]?$/;
function ownSearchPath(path, platform) {
  const { delimiter, isAbsolute: isAbsolute2 } = platform === "win32" ? win32 : posix;
  return path.split(delimiter).filter((folder) => isAbsolute2(folder) && !OF_PACKAGES.test(folder));
}

// src/assistants/installed.ts
var BUILT = /[\\/]dist[\\/]cli\.js$/;
function installedCopy(env, platform) {
  const path = Object.entries(env).find(([name]) => name.toUpperCase() === "PATH")?.[1] ?? "";
  const inFolder = platform === "win32" ? ["node_modules", "gazeway", "dist", "cli.js"] : ["gazeway"];
  for (const folder of ownSearchPath(path, platform)) {
    const found = realPathOf(join(folder, ...inFolder));
    if (found !== null && BUILT.test(found)) return found;
  }
  return null;
}
function realPathOf(path) {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

// src/review/shell-line.ts
function shellCommands(line) {
  const reader = { line, at: 0, commands: [], open: [] };
  begin(reader, "");
  while (reader.at < line.length) {
    if (innermost(reader).quote === "") readBare(reader);
    else readQuoted(reader);
  }
  while (reader.open.length > 0) end(reader);
  return reader.commands;
}
var programOf = (word) => word.slice(word.lastIndexOf("/") + 1).replace(/\.exe$/i, "");
var innermost = ({ open }) => open.at(-1);
var begin = ({ open }, closes) => open.push({ closes, command: [], word: null, quote: "", next: "word", ends: [] });
function end(reader) {
  endCommand(reader);
  reader.open.pop();
}
function wordOf(reader) {
  const list = innermost(reader);
  list.word ??= { text: "", isOpaque: false };
  return list.word;
}
var BRACKETS = /* @__PURE__ */ new Set(["{", "[", "[["]);
function endWord(reader) {
  const list = innermost(reader);
  const { word, next } = list;
  if (word === null) return;
  if (BRACKETS.has(word.text)) word.isOpaque = false;
  if (next === "end") list.ends.push({ text: word.text, isQuoted: /["']/.test(reader.line[reader.at - 1] ?? "") });
  else if (next === "word") list.command.push(word);
  list.word = null;
  list.next = "word";
}
function endCommand(reader) {
  endWord(reader);
  const list = innermost(reader);
  if (list.command.length > 0) reader.commands.push(list.command);
  list.command = [];
}
function readExpansion(reader) {
  const { line, at } = reader;
  const c = line[at];
  if (c !== "$" && c !== "`") return false;
  reader.at++;
  if (c === "`" && innermost(reader).closes === "`") {
    end(reader);
    return true;
  }
  const word = wordOf(reader);
  word.isOpaque = true;
  word.text += "$";
  if (c === "`") begin(reader, "`");
  else if (line[at + 1] === "(") {
    reader.at++;
    begin(reader, ")");
  }
  return true;
}
function readEscape(reader) {
  const next = reader.line[reader.at + 1] ?? "";
  reader.at += 2;
  if (next !== "\n") wordOf(reader).text += next;
}
function readQuoted(reader) {
  const list = innermost(reader);
  const c = reader.line[reader.at];
  if (list.quote === '"' && c === "\\" && /["\\$`\n]/.test(reader.line[reader.at + 1] ?? "")) {
    readEscape(reader);
    return;
  }
  if (list.quote === '"' && readExpansion(reader)) return;
  reader.at++;
  if (c === list.quote) list.quote = "";
  else wordOf(reader).text += c;
}
function readBare(reader) {
  const { line, at } = reader;
  const c = line[at];
  const next = line[at + 1];
  if (c === "\\") {
    readEscape(reader);
    return;
  }
  if (c === "$" && next === "'") {
    if (line.slice(at + 2, line.indexOf("'", at + 2)).includes("\\")) wordOf(reader).isOpaque = true;
    reader.at++;
    return;
  }
  if (readExpansion(reader)) return;
  if ((c === "<" || c === ">") && next === "(") {
    wordOf(reader).isOpaque = true;
    reader.at += 2;
    begin(reader, ")");
  } else if (c === "<" || c === ">" || c === "&" && next === ">") readRedirection(reader);
  else if (c === "\n") readNewline(reader);
  else if (c === "#" && innermost(reader).word === null) reader.at = endOfLine(line, at);
  else {
    reader.at++;
    readCharacter(reader, c);
  }
}
function readCharacter(reader, c) {
  if (c === "'" || c === '"') {
    wordOf(reader);
    innermost(reader).quote = c;
  } else if (c === "(") {
    endCommand(reader);
    begin(reader, ")");
  } else if (c === ")" && innermost(reader).closes === ")") end(reader);
  else if (/[;|&)]/.test(c)) endCommand(reader);
  else if (/\s/.test(c)) endWord(reader);
  else {
    const word = wordOf(reader);
    word.text += c;
    if (/[*?[{]/.test(c)) word.isOpaque = true;
  }
}
function endOfLine(line, at) {
  const newline = line.indexOf("\n", at);
  return newline === -1 ? line.length : newline;
}
function readRedirection(reader) {
  const list = innermost(reader);
  if (/^\d+$/.test(list.word?.text ?? "")) list.word = null;
  endWord(reader);
  const [operator = ""] = /^(?:&>>?|<<<|<<-?|<>|>>|>\||[<>]&?)/.exec(reader.line.slice(reader.at, reader.at + 3)) ?? [];
  reader.at += operator.length;
  list.next = /^<<-?$/.test(operator) ? "end" : "file";
}
var READS_TEXT = /* @__PURE__ */ new Set(["cat", "tee", "git", "gh"]);
function readNewline(reader) {
  endWord(reader);
  const list = innermost(reader);
  const program = programOf(list.command[0]?.text ?? "");
  const { ends } = list;
  list.ends = [];
  endCommand(reader);
  reader.at++;
  if (!READS_TEXT.has(program)) return;
  for (const { text: text2, isQuoted } of ends) {
    let at = reader.at;
    while (at < reader.line.length && reader.line.slice(at, endOfLine(reader.line, at)).trim() !== text2)
      at = endOfLine(reader.line, at) + 1;
    if (!isQuoted && /\$\(|`/.test(reader.line.slice(reader.at, at))) return;
    reader.at = endOfLine(reader.line, at);
  }
}

// src/review/held-command.ts
var USUALLY_HELD = ["git push", "gh pr merge"];
function heldCommand(line, names) {
  const wanted = names.map((name) => ({ name, words: name.split(/\s+/).filter(Boolean) }));
  const commands = commandsIn(line);
  const runs = commands.map((command2) => heldBy(command2, wanted));
  const first = runs.find((run) => run !== null) ?? spelledSomehow(line, commands, wanted);
  if (!first) return null;
  const others = commands.filter(
    (command2, at) => namesRepository(command2) || runs[at] === null && !isHarmless(command2)
  );
  return { ...first, besides: others[0] === void 0 ? null : inWords(others[0]) };
}
var commandsIn = (line) => shellCommands(line).flatMap((command2) => [command2, ...linesIn(command2).flatMap(commandsIn)]);
function linesIn(command2) {
  const [program, ...words] = withoutPrefixes(command2);
  const isText = TAKES_TEXT.has(programOf(program?.text ?? "")) || TEXT_OF_GIT.has(subcommandOf(command2) ?? "");
  const lines = isText ? [] : words.filter(({ text: text2 }) => /\s/.test(text2));
  return [...lines, .../\s/.test(program?.text ?? "") ? [program] : []].map(({ text: text2 }) => text2);
}
var TAKES_TEXT = /* @__PURE__ */ new Set(["gh", "echo", "printf", "grep", "egrep", "fgrep", "rg"]);
var TEXT_OF_GIT = /* @__PURE__ */ new Set(["commit", "tag", "notes", "log", "show", "grep", "merge", "stash"]);
function heldBy(command2, wanted) {
  const words = command2.map(({ text: text2 }) => text2);
  for (let at = 0; at < words.length; at++)
    for (const { name, words: own } of wanted) {
      const after = isProgram(words[at], own[0]) ? wordsAfter(words, at + 1, own) : null;
      if (after !== null) return { name, args: words.slice(after) };
    }
  return null;
}
var isProgram = (word, name) => name !== void 0 && programOf(word) === name;
function wordsAfter(words, from, [program, ...wanted]) {
  let next = 0;
  let at = from;
  for (; at < words.length && next < wanted.length; at++) {
    const word = words[at];
    if (word === wanted[next]) next++;
    else if (isProgram(word, program) || !(word.startsWith("-") || words[at - 1]?.startsWith("-"))) return null;
  }
  return next === wanted.length ? at : null;
}
var RUNS_WORDS = /* @__PURE__ */ new Set(["xargs", "parallel"]);
function spelledSomehow(line, commands, wanted) {
  const isUnclear = commands.some((command2) => {
    const [program] = withoutPrefixes(command2);
    return program !== void 0 && (program.isOpaque || RUNS_WORDS.has(programOf(program.text)));
  });
  if (!isUnclear) return null;
  const named = new Set(line.replace(/["'\\[\]]/g, "").split(/[^\w.-]+/));
  const found = wanted.find(({ words }) => words.every((word) => named.has(word)));
  return found === void 0 ? null : { name: found.name, args: [] };
}
var KEYWORDS = new Set("! { } if then elif else fi while until do done time".split(" "));
var RUNNERS = new Set("builtin command env eval exec nice nohup stdbuf sudo timeout".split(" "));
function withoutPrefixes(command2) {
  let isAfterRunner = false;
  const start = command2.findIndex(({ text: text2 }) => {
    if (RUNNERS.has(programOf(text2))) {
      isAfterRunner = true;
      return false;
    }
    const isOptionOfRunner = isAfterRunner && /^(-|\d)/.test(text2);
    return !(KEYWORDS.has(text2) || isOptionOfRunner || /^\w+=/.test(text2));
  });
  return start === -1 ? [] : command2.slice(start);
}
var SHELLS = new Set("ash bash dash ksh sh zsh".split(" "));
var HARMLESS = new Set(
  "cat cd cut date echo egrep exit export false fgrep for grep head ls printf pwd return rg set sleep sort tail tee test tr true unset wait wc : [ [[".split(
    " "
  )
);
var HARMLESS_OF_GIT = new Set(
  "add blame cat-file describe diff diff-tree for-each-ref grep log ls-files ls-remote merge-base name-rev rev-list rev-parse shortlog show status version".split(
    " "
  )
);
function isHarmless(command2) {
  const [program, ...words] = withoutPrefixes(command2);
  if (program === void 0) return true;
  if (/\s/.test(program.text) && !program.isOpaque) return true;
  if (program.isOpaque) return false;
  const name = programOf(program.text);
  if (SHELLS.has(name))
    return words.some(({ text: text2 }) => /^-\w*c/.test(text2)) && words.every(({ text: text2, isOpaque }) => isRead(text2, isOpaque));
  if (name === "git") return HARMLESS_OF_GIT.has(subcommandOf(command2) ?? "");
  if (name === "cd") return words.every(({ text: text2, isOpaque }) => text2 !== "-" && !isOpaque);
  return HARMLESS.has(program.text);
}
var isRead = (text2, isOpaque) => text2.startsWith("-") || /\s/.test(text2) && !isOpaque;
var namesRepository = (command2) => command2.some(({ text: text2 }) => OF_REPOSITORY.test(text2));
var OF_REPOSITORY = /^(--git-dir|--work-tree|GIT_(DIR|WORK_TREE|COMMON_DIR|CONFIG\w*)=|push\.default=matching|remote\.\S+\.(push|mirror)=)/i;
var WITH_VALUE = /* @__PURE__ */ new Set(["-C", "-c", "--namespace", "--config-env", "--exec-path", "--git-dir", "--work-tree"]);
function subcommandOf(command2) {
  const words = withoutPrefixes(command2).map(({ text: text2 }) => text2);
  if (!isProgram(words[0] ?? "", "git")) return null;
  let at = 1;
  while (words[at]?.startsWith("-")) at += WITH_VALUE.has(words[at]) ? 2 : 1;
  return words[at] ?? null;
}
var inWords = (command2) => {
  const words = command2.map(({ text: text2 }) => text2).join(" ");
  return words.length > 60 ? `${words.slice(0, 60)}\u2026` : words;
};

// adapters/command/plugin-launcher.ts
var builds = ["dist/cli.js", "../dist/cli.js"].map((path) => fileURLToPath(new URL(path, import.meta.url)));
var command = builds.find((path) => existsSync(path)) ?? installedCopy(process.env, process.platform);
if (command !== null) {
  process.argv[1] = command;
  await import(pathToFileURL(command).href);
} else if (process.argv[3] !== "pre-tool-use" || heldCommand(await askedCommand(), USUALLY_HELD) !== null) {
  process.stderr.write(
    "gazeway: not installed. From a clone of Gazeway run `npm ci && npm run build && npm install --global .`\n"
  );
  process.exitCode = 1;
}
async function askedCommand() {
  const { tool_input: input } = JSON.parse(await text(process.stdin));
  return typeof input?.command === "string" ? input.command : "";
}
