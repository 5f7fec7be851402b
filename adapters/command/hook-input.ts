import * as z from 'zod'
import { GazewayError } from '../../src/errors.ts'

/** Largest input of a hook, in bytes. Claude Code sends a few kilobytes. */
const MAX_BYTES = 8 << 20

/** Claude Code's id of a session; another one is ignored. */
export const SessionId = z
  .string()
  .regex(/^[\w-]{1,50}$/)
  .optional()
  .catch(undefined)

/**
 * Reads the input that Claude Code gives to a hook.
 *
 * @throws GazewayError `invalid_json` for other input, such as when a person runs the command
 */
export async function hookInput<T>(schema: z.ZodType<T>): Promise<T> {
  const parsed = schema.safeParse(parseJson(await readInput()))
  if (parsed.success) return parsed.data
  throw noHookEvent('')
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin) {
    chunks.push(chunk)
    size += chunk.length
    if (size > MAX_BYTES) throw noHookEvent(` (more than ${MAX_BYTES >> 20} MiB)`)
  }
  return Buffer.concat(chunks).toString()
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const noHookEvent = (detail: string): GazewayError =>
  new GazewayError(
    'invalid_json',
    `The input is not a Claude Code hook event${detail}. \`gazeway hook\` is for the plugin. Do not run it by hand.`,
  )

/** Prints the answer of a hook in Claude Code's format. */
export const answerHook = (answer: object): void => void process.stdout.write(`${JSON.stringify(answer)}\n`)
