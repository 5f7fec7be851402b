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
function shellLine(line) {
  const reader = { line, at: 0, commands: [], written: [], open: [] };
  begin(reader, "");
  while (reader.at < line.length) {
    if (innermost(reader).quote === "") readBare(reader);
    else readQuoted(reader);
  }
  while (reader.open.length > 0) end(reader);
  const { commands, written } = reader;
  return { commands, written };
}
var isGitOfWindows = (word) => /(?:^|[/\\])git(?:\.exe)?$/i.test(word) && /\\|\.exe$/i.test(word);
var programOf = (word) => {
  if (isGitOfWindows(word)) return "git";
  return word.replace(/^[a-z]:[^/]*\\/is, "").replace(/^.*\//s, "").replace(/\.exe$/i, "");
};
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
  else if (next === "written") reader.written.push(word);
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
  list.next = NEXT[operator] ?? (operator.includes(">") ? "written" : "read");
}
var NEXT = { "<<": "end", "<<-": "end", "<<<": "word" };
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

// src/review/shell-command.ts
var KEYWORDS = new Set("! { } if then elif else fi while until do done time".split(" "));
var RUNNERS = new Set("builtin command env eval exec nice nohup stdbuf sudo timeout".split(" "));
var SHELLS = new Set("ash bash dash ksh sh zsh".split(" "));
var GIT_WITH_VALUE = /* @__PURE__ */ new Set([
  "-C",
  "-c",
  "--namespace",
  "--config-env",
  "--exec-path",
  "--git-dir",
  "--work-tree"
]);
var isProgram = (word, name) => name !== void 0 && programOf(word) === name;
var PUSHES_TOO = /* @__PURE__ */ new Set(["lfs", "subtree"]);
var isPushingProgram = (word) => programOf(word).startsWith("git-") && PUSHES_TOO.has(programOf(word).slice("git-".length));
var isShell = (program) => SHELLS.has(programOf(program));
function withoutPrefixes(command2) {
  let isAfterRunner = false;
  const start = command2.findIndex(({ text: text2 }) => {
    if (RUNNERS.has(programOf(text2))) {
      isAfterRunner = true;
      return false;
    }
    const isOptionOfRunner = isAfterRunner && /^(-|\d)/.test(text2);
    return !(KEYWORDS.has(text2) || isOptionOfRunner || /^\w+\+?=/.test(text2));
  });
  return start === -1 ? [] : command2.slice(start);
}
var PACERS = /* @__PURE__ */ new Set(["nice", "stdbuf", "timeout"]);
var PLAIN_RUNNERS = /* @__PURE__ */ new Set([...PACERS, "builtin", "command", "env", "exec", "nohup"]);
function started(command2) {
  const settings = [];
  let runner = "";
  for (const [at, { text: text2, isOpaque }] of command2.entries()) {
    if (/^\w+\+?=/.test(text2)) settings.push(text2);
    else if (PLAIN_RUNNERS.has(text2)) runner = text2;
    else if (PACERS.has(runner) && !isOpaque && /^(-\w*|\d[\d.]*[smhd]?)$/.test(text2)) continue;
    else if (runner !== "" && (isOpaque || text2.startsWith("-"))) return null;
    else if (runner !== "" || !KEYWORDS.has(text2)) return { settings, words: command2.slice(at) };
  }
  return { settings, words: [] };
}
function subcommandOf(command2) {
  const words = withoutPrefixes(command2).map(({ text: text2 }) => text2);
  if (!isProgram(words[0] ?? "", "git")) return null;
  let at = 1;
  while (words[at]?.startsWith("-")) at += GIT_WITH_VALUE.has(words[at]) ? 2 : 1;
  return words[at] ?? null;
}
function inWords(command2) {
  const words = command2.map(({ text: text2 }) => text2).join(" ");
  return words.length > 60 ? `${words.slice(0, 60)}\u2026` : words;
}

// src/review/plain-command.ts
function isPlain(command2) {
  const start = started(command2);
  if (start === null || !start.settings.every(isPlainSetting)) return false;
  const [program, ...words] = start.words;
  if (program === void 0) return true;
  if (program.isOpaque || words.some(({ text: text2 }) => EVALUATED.test(text2))) return false;
  const name = program.text;
  if (name === "eval" || isShell(name)) return isReadLine(name, words);
  if (name === "git") return isPlainGit(words);
  const allows = ALLOWED_WORDS[name];
  return HARMLESS.has(name) && (allows === void 0 || words.every((word) => allows(word)));
}
function isPlainlyRun(command2, at) {
  const start = started(command2);
  if (start === null || command2.length - start.words.length !== at) return false;
  if (!start.settings.every(isPlainSetting) || start.words.some(({ isOpaque }) => isOpaque)) return false;
  const [program, ...words] = start.words.map(({ text: text2 }) => text2);
  if (!/^([\w.-]+|\/(usr|bin|opt)\/.*)$/.test(program ?? "") || isPushingProgram(program ?? "")) return false;
  if (!isProgram(program ?? "", "git")) return true;
  const [subcommand = ""] = afterGitOptions(words) ?? [];
  return subcommand !== "" && !PUSHES_TOO.has(subcommand);
}
var HARMLESS = new Set(
  "cat cd cut date echo egrep exit export false fgrep for grep head ls mkdir printf pwd return rg set sleep tail tee test tr true unset wait wc : [ [[".split(
    " "
  )
);
var EVALUATED = /\$\(|`/;
var ALLOWED_WORDS = {
  cd: ({ text: text2, isOpaque }) => !isOpaque && !text2.startsWith("-"),
  mkdir: ({ text: text2, isOpaque }) => !isOpaque && (text2 === "-p" || !text2.startsWith("-")),
  export: ({ text: text2, isOpaque }) => /^\w+$/.test(text2) && !isOpaque || isPlainSetting(text2),
  printf: ({ text: text2 }) => !text2.startsWith("-v"),
  // It runs programs with `--pre` and `--hostname-bin`.
  rg: ({ text: text2, isOpaque }) => !isOpaque && !text2.startsWith("--"),
  set: ({ text: text2 }) => /^(-[eux]+|-[eux]*o|pipefail)$/.test(text2),
  unset: ({ text: text2, isOpaque }) => !isOpaque && /^\w+$/.test(text2)
};
var SETTINGS = new Set(
  "CI DEBUG FORCE_COLOR GH_TOKEN GITHUB_TOKEN GIT_TERMINAL_PROMPT HUSKY LANG LC_ALL LEFTHOOK NO_COLOR NODE_ENV NPM_TOKEN SKIP TERM TZ".split(
    " "
  )
);
var PLAIN_SSH = /^ssh( -[ilp] [\w./~@-]+| -[46vqA]+)*$/;
function isPlainSetting(setting) {
  const [, name = "", value = ""] = /^(\w+)\+?=(.*)$/s.exec(setting) ?? [];
  if (name === "GIT_SSH_COMMAND") return PLAIN_SSH.test(value);
  return SETTINGS.has(name) || /^[a-z]\w*$/.test(name) && !name.endsWith("path");
}
function isReadLine(name, words) {
  const [line, ...more] = name === "eval" ? words : words.slice(1);
  const isOption = name === "eval" || /^-[elux]*c$/.test(words[0]?.text ?? "");
  return isOption && line !== void 0 && more.length === 0 && /\s/.test(line.text) && !line.isOpaque;
}
var GIT_OPTIONS = /* @__PURE__ */ new Set(["--no-pager", "-P", "--no-replace-objects", "--no-optional-locks", "--no-advice"]);
var GIT_SETTINGS = /^(advice|color|gc|http|pack|user)\.[\w.:/-]+=|^protocol\.version=|^push\.default=(current|simple|upstream|nothing)$|^commit\.gpgsign=/i;
function afterGitOptions(words) {
  let at = 0;
  for (; words[at]?.startsWith("-"); at++) {
    const isPaired = words[at] === "-C" || words[at] === "-c" && GIT_SETTINGS.test(words[at + 1] ?? "");
    if (isPaired) at++;
    else if (!GIT_OPTIONS.has(words[at])) return null;
  }
  return words.slice(at);
}
var HARMLESS_OF_GIT = new Set(
  "add blame cat-file describe diff diff-tree for-each-ref grep log ls-files ls-remote merge-base name-rev rev-list rev-parse shortlog show status version".split(
    " "
  )
);
var LISTS = {
  branch: /^(-[avr]+|--all|--list|--remotes|--show-current|--verbose)$/,
  remote: /^(-v|--verbose)$/,
  stash: /^list$/
};
var LONG_OPTIONS = new Set(
  "abbrev abbrev-commit abbrev-ref all author branch cached color contains count cc date decorate dirstat dry-run exclude-standard first-parent format git-dir graph grep heads ignore-missing is-ancestor left-right max-count merges name-only name-status no-color no-merges no-patch no-renames numstat oneline others patch patience points-at porcelain pretty quiet refs remotes reverse short shortstat show-current show-toplevel since sort staged stat summary symbolic-full-name tags unified until untracked-files update verbose verify word-diff".split(" ")
);
function isPlainGit(words) {
  const [subcommand = "", ...rest] = afterGitOptions(words.map(({ text: text2 }) => text2)) ?? [];
  if (words.some(({ isOpaque }) => isOpaque)) return false;
  const lists = LISTS[subcommand];
  if (lists !== void 0) return rest.length > 0 && rest.every((word) => lists.test(word));
  return HARMLESS_OF_GIT.has(subcommand) && rest.every(isPlainOption);
}
function isPlainOption(word) {
  if (word === "--" || !word.startsWith("-")) return true;
  const [, name] = /^--([^=]+)/.exec(word) ?? [];
  return name === void 0 ? !/o/i.test(word) : LONG_OPTIONS.has(name);
}
var RUNS_IN_SED = /(^|[^\w\s\\])[\dgpimIM]*e[\dgpimIM]*\s*([;}\n]|$)|(^|[;{}\n$\d/])\s*e\s/;
var INTERPRETER = /^(python|node|perl|ruby|php|deno|bun|osascript)[\d.]*$/;
function runsLine(command2, written) {
  const [program, ...words] = started(command2)?.words ?? [];
  if (program === void 0) return false;
  const isWritten = ({ text: text2 }) => written.some((file2) => programOf(file2.text) === programOf(text2));
  if (isWritten(program)) return true;
  const name = programOf(program.text);
  if (name === "sed") return words.some(({ text: text2 }) => !text2.startsWith("-") && RUNS_IN_SED.test(text2));
  if (!isShell(name) && !INTERPRETER.test(name) && name !== "source" && name !== ".") return false;
  const [file] = words.filter(({ text: text2 }) => !text2.startsWith("-"));
  const isCode = words.some(({ text: text2 }) => /^-\w*[ceE]$|^--eval$/.test(text2));
  return file === void 0 || isCode || file.isOpaque || file.text.startsWith("/dev/") || isWritten(file);
}

// src/review/held-command.ts
var USUALLY_HELD = ["git push", "gh pr merge"];
function heldCommand(line, names) {
  const wanted = names.map((name) => ({ name, words: name.split(/\s+/).filter(Boolean) }));
  const { commands, written } = readLine(line);
  const runs = commands.map((command2) => heldBy(command2, wanted));
  const found = runs.find((run) => run !== null) ?? spelledSomehow(line, { commands, written }, wanted);
  if (!found) return null;
  const first = { name: found.name, args: found.args };
  const isFine = (command2, at2) => runs[at2] ? isPlainlyRun(command2, runs[at2].program) : isPlain(command2);
  const at = commands.findIndex((command2, index) => !isFine(command2, index));
  if (at !== -1) return { ...first, besides: inWords(commands[at]), isItself: runs[at] !== null };
  return { ...first, besides: secondFolder(commands) ?? changedFile(commands, written), isItself: false };
}
function readLine(line) {
  const { commands, written } = shellLine(line);
  const parts = commands.map((command2) => ({ command: command2, inner: linesIn(command2).map(readLine) }));
  return {
    commands: parts.flatMap(({ command: command2, inner }) => [command2, ...inner.flatMap((one) => one.commands)]),
    written: [
      ...written,
      ...commands.flatMap(teed),
      ...parts.flatMap(({ inner }) => inner.flatMap((one) => one.written))
    ]
  };
}
function teed(command2) {
  const [program, ...words] = withoutPrefixes(command2);
  return program?.text === "tee" ? words : [];
}
function linesIn(command2) {
  const [program, ...words] = withoutPrefixes(command2);
  const lines = isText(command2) ? [] : words.filter(({ text: text2 }) => /\s/.test(text2));
  const own = /\s/.test(program?.text ?? "") ? [program] : [];
  return [...[...lines, ...own].map(({ text: text2 }) => text2), ...linesSetBy(command2, program?.text === "alias")];
}
var RUN_AS_LINE = /^(GIT_\w+|EDITOR|MANPAGER|PAGER|VISUAL)=/;
function linesSetBy(command2, isAlias) {
  return command2.flatMap(({ text: text2 }, at) => {
    const isSet = isAlias || command2[at - 1]?.text === "-c" || RUN_AS_LINE.test(text2) && !isPlainSetting(text2);
    return isSet && /^[\w.-]+=(.*\s.*)$/s.exec(text2)?.slice(1) || [];
  });
}
var TAKES_TEXT = new Set("gh echo printf cat head tail ls wc tee cut tr grep egrep fgrep rg".split(" "));
var TEXT_OF_GIT = /* @__PURE__ */ new Set(["commit", "tag", "notes", "log", "show", "grep", "merge", "stash"]);
var LOOKS_UP = /* @__PURE__ */ new Set(["apropos", "info", "man", "tldr", "type", "whatis", "whereis", "which"]);
var LOOKS_UP_WITH = /^([^-]|-[1-9afkKSsw]+$)/;
function isText(command2) {
  const [program, ...words] = started(command2)?.words ?? [];
  if (LOOKS_UP.has(programOf(program?.text ?? ""))) return words.every(({ text: text2 }) => LOOKS_UP_WITH.test(text2));
  return TAKES_TEXT.has(programOf(program?.text ?? "")) || program !== void 0 && TEXT_OF_GIT.has(subcommandOf(command2) ?? "");
}
function heldBy(command2, wanted) {
  const words = command2.map(({ text: text2 }) => text2);
  const start = command2.length - withoutPrefixes(command2).length;
  const end2 = isText(command2) ? Math.min(start + 1, words.length) : words.length;
  for (let at = 0; at < end2; at++)
    for (const { name, words: own } of wanted) {
      const after = heldFrom(words, at, own);
      if (after !== null) return { name, args: words.slice(after), program: at };
    }
  return null;
}
function heldFrom(words, at, own) {
  const word = words[at];
  if (own[0] === "git" && isProgram(word, `git-${own[1]}`)) return wordsAfter(words, at + 1, own.slice(1));
  if (own[0] === "git" && isPushingProgram(word)) return wordsAfter(words, at + 1, own);
  return isProgram(word, own[0]) ? wordsAfter(words, at + 1, own) : null;
}
function wordsAfter(words, from, [program, ...wanted]) {
  let next = 0;
  let at = from;
  for (; at < words.length && next < wanted.length; at++) {
    const word = words[at];
    if (word === wanted[next]) next++;
    else if (program === "git" && PUSHES_TOO.has(word)) continue;
    else if (isProgram(word, program) || !(word.startsWith("-") || words[at - 1]?.startsWith("-"))) return null;
  }
  return next === wanted.length ? at : null;
}
function spelledSomehow(line, { commands, written }, wanted) {
  const named = new Set(
    [line, line.replace(/\\([nrtv]|x20|0?40)/g, " ")].flatMap(
      (text2) => text2.replace(/["'\\[\]]/g, "").split(/[^\w.-]+/)
    )
  );
  const isUnclear = commands.some((command2) => isPutTogether(command2) || runsLine(command2, written));
  const found = wanted.find(
    ({ words }) => isUnclear && words.every((word) => named.has(word)) || commands.some((command2) => isHidden(command2, words) || isUnfinished(command2, words, named))
  );
  return found === void 0 ? null : { name: found.name, args: [], program: -1 };
}
var RUNS_WORDS = /* @__PURE__ */ new Set(["xargs", "parallel"]);
function isPutTogether(command2) {
  const [program] = withoutPrefixes(command2);
  return program !== void 0 && (program.isOpaque || RUNS_WORDS.has(programOf(program.text)));
}
function isHidden(command2, [, ...own]) {
  const [program, ...words] = withoutPrefixes(command2);
  const isUnnamed = program?.isOpaque && /[$*?[{\\]/.test(programOf(program.text));
  return own.length > 0 && isUnnamed === true && own.every((word, at) => words[at]?.text === word);
}
var WITH_VALUE = /* @__PURE__ */ new Set([...GIT_WITH_VALUE, "-R", "--repo"]);
function isUnfinished(command2, [program, ...own], named) {
  const [first, ...words] = withoutPrefixes(command2);
  if (!isProgram(first?.text ?? "", program)) return false;
  const operands = words.filter(({ text: text2 }, at2) => !text2.startsWith("-") && !WITH_VALUE.has(words[at2 - 1]?.text ?? ""));
  const at = operands.findIndex(({ text: text2 }, index) => text2 !== own[index]);
  const unclear = operands[at];
  if (at >= own.length || !unclear?.isOpaque) return false;
  return /[*?[{\\]/.test(unclear.text) || [program, ...own].every((word) => named.has(word));
}
function secondFolder(commands) {
  const second = commands.filter((command2) => withoutPrefixes(command2)[0]?.text === "cd")[1];
  return second === void 0 ? null : inWords(second);
}
function changedFile(commands, written) {
  const folders = commands.flatMap((command2) => {
    const [program, ...words] = withoutPrefixes(command2);
    return program?.text === "cd" ? words : [];
  });
  const own = [...written, ...folders].find(
    ({ text: text2, isOpaque }) => isOpaque || /(^|\/)\.git(\/|$)|(^|\/)(HEAD|packed-refs|refs\/.*)$/i.test(text2)
  );
  return own === void 0 ? null : `> ${own.text}`;
}

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
