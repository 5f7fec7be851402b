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

// src/review/held-command.ts
var USUALLY_HELD = ["git push", "gh pr merge"];
var ENDS = /[;|&(){}`$\n<>]/g;
function heldCommand(line, names) {
  const words = line.replace(/["'\\]/g, "").replace(ENDS, " ; ").split(/\s+/);
  const wanted = names.map((name) => ({ name, words: name.split(/\s+/).filter(Boolean) }));
  for (let at = 0; at < words.length; at++)
    for (const { name, words: own } of wanted)
      if (isProgram(words[at], own[0]) && follows(words, at + 1, own)) return name;
  return null;
}
var isProgram = (word, name) => name !== void 0 && word.slice(word.lastIndexOf("/") + 1).replace(/\.exe$/i, "") === name;
function follows(words, from, [program, ...wanted]) {
  let next = 0;
  for (let at = from; at < words.length && next < wanted.length; at++) {
    const word = words[at];
    if (word === wanted[next]) next++;
    else if (isProgram(word, program) || !(word.startsWith("-") || words[at - 1]?.startsWith("-"))) return false;
  }
  return next === wanted.length;
}

// adapters/command/plugin-launcher.ts
var builds = ["dist/cli.js", "../dist/cli.js"].map((path) => fileURLToPath(new URL(path, import.meta.url)));
var command = builds.find((path) => existsSync(path)) ?? installedCopy(process.env, process.platform);
if (command !== null) {
  process.argv[1] = command;
  await import(pathToFileURL(command).href);
} else if (process.argv[3] !== "pre-tool-use" || heldCommand(await text(process.stdin), USUALLY_HELD) !== null) {
  process.stderr.write(
    "gazeway: not installed. From a clone of Gazeway run `npm ci && npm run build && npm install --global .`\n"
  );
  process.exitCode = 1;
}
