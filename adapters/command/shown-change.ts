import { createTwoFilesPatch } from 'diff'
import type { Change } from '../../src/assistants/change.ts'
import { REDACTED, redactText } from '../../src/config/redact.ts'
import { plain } from '../../src/text/plain.ts'

/** Lines around a change that are shown. */
const CONTEXT = 2
/** A value under a name of secrets; references to variables are none. */
const SECRET = /((?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)["']?\s{0,4}[:=]\s{0,4}["'])(?![${])[^"']+/gi

/** A change of a file as a unified diff, without secrets that others wrote next to it. */
export function shownChange({ path, before, after, isThere }: Change): string {
  const from = isThere ? path : '/dev/null'
  const to = after === null ? '/dev/null' : path
  const patch = createTwoFilesPatch(from, to, before, after ?? '', undefined, undefined, { context: CONTEXT })
  return patch
    .slice(patch.indexOf('\n--- ') + 1)
    .split('\n')
    .map((line) => redactText(plain(line), []).replace(SECRET, `$1${REDACTED}`))
    .join('\n')
}
