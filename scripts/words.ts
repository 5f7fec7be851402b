import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Fails when a docstring begins with a question word. A docstring begins with a verb or a noun, as in the documentation
 * of hono or Stripe: "Returns the account's next nonce", not "What nonce comes next".
 */
const OPENING =
  /\/\*\*\s*(?:\*\s*)?(What|Whatever|Whether|How|Who|Whoever|Whom|Whose|Where|When|Why|Which|Whichever)\b/g

/** Folders and files that are checked, one room a line. A room joins the list once it is clean, and never leaves it. */
const CHECKED = `
src/alerts
src/assistants
src/calls
src/config
src/conversations
src/errors.ts
src/gateway.ts
src/inference
src/metering
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
src/memory
test
`
  .trim()
  .split('\n')

const faults = CHECKED.flatMap(sources).flatMap((file) => {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(OPENING)].map(({ index, 1: word }) => {
    const line = text.slice(0, index).split('\n').length
    return `${file}:${line}: a docstring begins with "${word}"; begin with a verb or a noun.`
  })
})

for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exitCode = 1

function sources(path: string): string[] {
  if (/\.tsx?$/.test(path)) return [path]
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(path, name))
}
