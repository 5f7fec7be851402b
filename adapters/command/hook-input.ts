import { json } from 'node:stream/consumers'
import type * as z from 'zod'
import { GazewayError } from '../../src/errors.ts'

/**
 * Reads the input that Claude Code gives to a hook.
 *
 * @throws GazewayError `invalid_json` for other input, such as when a person runs the command
 */
export async function hookInput<T>(schema: z.ZodType<T>): Promise<T> {
  const parsed = schema.safeParse(await json(process.stdin).catch(() => undefined))
  if (parsed.success) return parsed.data
  throw new GazewayError(
    'invalid_json',
    'The input is not a Claude Code hook event. `gazeway hook` is for the plugin. Do not run it by hand.',
  )
}

/** Prints the answer of a hook in Claude Code's format. */
export const answerHook = (answer: object): void => void process.stdout.write(`${JSON.stringify(answer)}\n`)
