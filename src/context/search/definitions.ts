import { languageOf } from '../language.ts'

/** A name that a file defines, and its line (from 1). */
export interface Definition {
  name: string
  line: number
}

/** Maximum number of definitions per file. */
const MOST = 2_000

const SCRIPT = [
  /^[ \t]*(?:export[ \t]+)?(?:default[ \t]+)?(?:declare[ \t]+)?(?:abstract[ \t]+)?(?:async[ \t]+)?(?:function\*?|class|interface|enum|namespace)[ \t]+([\w$]+)/gm,
  /^[ \t]*(?:export[ \t]+)?(?:declare[ \t]+)?type[ \t]+([\w$]+)[^=\n]{0,80}=/gm,
  /^(?:export[ \t]+)?(?:const|let|var)[ \t]+([\w$]+)[ \t]*[:=]/gm,
  /^[ \t]+(?:(?:public|private|protected|static|async|get|set|override)[ \t]+)*(?!if\b|for\b|while\b|switch\b|catch\b|return\b|function\b)(?:\*[ \t]*)?(?:#|\[(?:[\w$]+\.)*)?([\w$]+)\]?[ \t]*\([^()\n]{0,200}\)[^;{}()\n]{0,80}\{/gm,
  /^(?:module\.)?[\w$]+(?:\.prototype)?\.([\w$]+)[ \t]*=[ \t]*(?:async[ \t]+)?(?:function|\()/gm,
]
const C = [
  /^#[ \t]*define[ \t]+(\w+)/gm,
  /^(?:typedef[ \t]+)?(?:static[ \t]+)?(?:struct|enum|union|class|namespace)[ \t]+(\w+)[^;\n]{0,120}$/gm,
  /^(?!return\b|else\b|typedef\b)(?:[A-Za-z_][\w \t*&:<>,]{0,120}[ \t*&:])?(\w+)[ \t]*\([^;\n]{0,300}$/gm,
]
const CURLY = [
  /^[ \t]*(?:(?:public|private|protected|internal|static|final|abstract|sealed|open|data|case|partial|override|export)[ \t]+)*(?:class|interface|enum|record|struct|trait|object|protocol|fun|func|function|def|contract|extension)[ \t]+(?:\([^()\n]{0,80}\)[ \t]*)?(\w+)/gm,
  /^[ \t]+(?:(?:public|private|protected|internal|static|final|abstract|synchronized|override|virtual|async)[ \t]+)+[\w<>[\],.?]{1,80}[ \t]+(\w+)[ \t]*\(/gm,
]
const PATTERNS: Record<string, RegExp[]> = {
  javascript: SCRIPT,
  typescript: SCRIPT,
  vue: SCRIPT,
  svelte: SCRIPT,
  astro: SCRIPT,
  python: [/^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)/gm, /^(\w+)[ \t]*(?::[^=\n]{1,80})?=[^=]/gm],
  go: [/^func[ \t]+(?:\([^()\n]{0,120}\)[ \t]*)?(\w+)/gm, /^type[ \t]+(\w+)/gm, /^(?:var|const)[ \t]+(\w+)/gm],
  rust: [
    /^[ \t]*(?:pub(?:\([^()\n]{0,40}\))?[ \t]+)?(?:(?:async|unsafe|const|default|extern[ \t]+"[^"\n]{0,20}")[ \t]+)*(?:fn|struct|enum|trait|type|mod|union|static|const|macro_rules!)[ \t]+(\w+)/gm,
  ],
  c: C,
  cpp: C,
  java: CURLY,
  kotlin: CURLY,
  csharp: CURLY,
  swift: CURLY,
  scala: CURLY,
  php: CURLY,
  solidity: CURLY,
  dart: CURLY,
  ruby: [/^[ \t]*(?:def[ \t]+(?:self\.)?|class[ \t]+|module[ \t]+)([\w:]+)/gm, /^[ \t]*([A-Z][A-Z0-9_]+)[ \t]*=/gm],
  shell: [/^(?:function[ \t]+)?([\w-]+)[ \t]*\(\)/gm, /^function[ \t]+([\w-]+)/gm],
  perl: [/^[ \t]*(?:sub|package)[ \t]+([\w:]+)/gm],
  lua: [/^[ \t]*(?:local[ \t]+)?function[ \t]+([\w.:]+)/gm],
  elixir: [/^[ \t]*(?:defmodule|defp?|defmacro)[ \t]+([\w.]+)/gm],
  haskell: [/^(?:data|newtype|type|class)[ \t]+(\w+)/gm, /^(\w+)[ \t]*::/gm],
  sql: [
    /^[ \t]*create[ \t]+(?:or[ \t]+replace[ \t]+)?(?:table|view|function|procedure|type|index)[ \t]+(?:if[ \t]+not[ \t]+exists[ \t]+)?([\w."]+)/gim,
  ],
  protobuf: [/^[ \t]*(?:message|service|enum|rpc)[ \t]+(\w+)/gm],
  graphql: [/^[ \t]*(?:type|input|enum|interface|union|scalar)[ \t]+(\w+)/gm],
  markdown: [/^#{1,4}[ \t]+([^\n]{1,120})$/gm],
}

/**
 * Finds the definitions in a file with regular expressions: functions, methods, types, top-level constants, and the
 * headings of Markdown.
 *
 * @returns at most 2,000, in line order
 */
export function definitionsIn(text: string, path: string): Definition[] {
  const found: Array<{ name: string; at: number }> = []
  for (const pattern of PATTERNS[languageOf(path) ?? ''] ?? [])
    for (const match of text.matchAll(pattern)) {
      if (found.length >= MOST) break
      const name = match[1]
      if (name) found.push({ name, at: match.index + match[0].search(/\S/) })
    }
  found.sort((a, b) => a.at - b.at)
  let line = 1
  let from = 0
  return found.map(({ name, at }) => {
    for (let end = text.indexOf('\n', from); end !== -1 && end < at; end = text.indexOf('\n', from)) {
      line++
      from = end + 1
    }
    return { name, line }
  })
}
