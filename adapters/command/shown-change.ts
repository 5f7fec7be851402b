import { createTwoFilesPatch } from 'diff'
import type { Change } from '../../src/assistants/change.ts'
import { REDACTED, redactText } from '../../src/config/redact.ts'
import { plain } from '../../src/text/single-line.ts'

/** Lines of context around a change. */
const CONTEXT = 2
/** Matches a value whose name is one of a secret. References to variables do not match. */
const SECRET = /((?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)["']?\s{0,4}[:=]\s{0,4}(["'`]))(?![${])(?:\\.|(?!\2).)+/gi
/** Matches the same in a line of a `.env` file, without quotes. */
const UNQUOTED = /^([-+ ]\s*(?:export\s+)?[\w.-]*(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)\s*[:=]\s*)(?![\s"'`${[]).+/i

/** Formats a change of a file as a unified diff. Redacts secrets in the lines around it. */
export function shownChange({ path, before, after, isThere }: Change): string {
  const from = isThere ? path : '/dev/null'
  const to = after === null ? '/dev/null' : path
  const patch = createTwoFilesPatch(from, to, before, after ?? '', undefined, undefined, { context: CONTEXT })
  return patch
    .slice(patch.indexOf('\n--- ') + 1)
    .split('\n')
    .map((line) => redactText(plain(line), []).replace(SECRET, `$1${REDACTED}`).replace(UNQUOTED, `$1${REDACTED}`))
    .join('\n')
}
