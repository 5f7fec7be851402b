import { GUIDANCE } from '../../adapters/web/error-guidance.ts'
import { CODES, type ErrorCode } from '../../src/errors.ts'

/** Writes a section for each error code: its status, what happened, and what to do. */
export function errorsReference(): string {
  const codes = Object.keys(CODES) as ErrorCode[]
  return codes.map(section).join('\n\n')
}

function section(code: ErrorCode): string {
  const { happened, todo } = GUIDANCE[code]
  return `## ${code}\n\nHTTP ${CODES[code].status}. ${happened}\n\n**What to do.** ${todo}`
}
