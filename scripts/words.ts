import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Fails when a docstring begins with a question word, or repeats a private name. A docstring begins with a verb or a noun,
 * as in the documentation of hono or Stripe: "Returns the account's next nonce", not "What nonce comes next".
 */
const OPENING =
  /\/\*\*\s*(?:\*\s*)?(What|Whatever|Whether|How|Who|Whoever|Whom|Whose|Where|When|Why|Which|Whichever)\b/g

/** Docstring in one line of a declaration that is not exported, with the line of the declaration. */
const PRIVATE = /^([ \t]*)\/\*\* ([^\n`{@\d]*) \*\/\n\1((?:async )?(?:function|const|interface|type) [^\n]*)/gm

/** Words that add nothing to a name. */
const EMPTY = new Set(
  stemsOf(
    'a all an and are as at builds by creates dependencies each for from in is it its of on options parameters returns the to with',
  ),
)

/** Folders and files that are checked, one room a line. A room joins the list once it is clean, and never leaves it. */
const CHECKED = `
src/alerts
src/assistants
src/coding-agents
src/calls
src/config
src/conversations
src/errors.ts
src/gateway.ts
src/inference
src/metering
src/reconcile
src/providers
src/research
src/store
src/storeless-gateway.ts
src/text
src/wire
src/wallet
src/payments
src/chain
src/escrow
src/tasks
src/identity
src/idempotency
src/sessions
src/skills
src/gaze
src/agent
src/agent-gateway
src/connections
adapters/platform
adapters/web
adapters/http
adapters/stdio
adapters/command
adapters/console
tools
scripts
bench
src/context
src/repository
src/review
src/signing
src/memory
test
`
  .trim()
  .split('\n')

const faults = CHECKED.flatMap(sources).flatMap((file) => {
  const text = readFileSync(file, 'utf8')
  const lineOf = (index: number) => text.slice(0, index).split('\n').length
  return [
    ...[...text.matchAll(OPENING)].map(
      ({ index, 1: word }) =>
        `${file}:${lineOf(index)}: a docstring begins with "${word}"; begin with a verb or a noun.`,
    ),
    ...[...text.matchAll(PRIVATE)]
      .filter(({ 2: docstring = '', 3: declaration = '' }) => repeats(docstring, declaration))
      .map(({ index }) => `${file}:${lineOf(index)}: a docstring repeats the name; leave it out.`),
  ]
})

for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exitCode = 1

function sources(path: string): string[] {
  if (/\.tsx?$/.test(path)) return [path]
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(path, name))
}

/** True when a declaration says all words of its docstring. */
function repeats(docstring: string, declaration: string): boolean {
  const said = new Set(stemsOf(declaration))
  return stemsOf(docstring).every((stem) => said.has(stem) || EMPTY.has(stem))
}

/** Stems of the words in a text or name: `listedKeys` gives `list` and `key`. */
function stemsOf(text: string): string[] {
  const words = text.replace(/([a-z\d])([A-Z])/g, '$1 $2').toLowerCase()
  return (words.match(/[a-z\d]+/g) ?? []).map((word) => word.replace(/(?:ing|ed|es|s|e)$/, ''))
}
