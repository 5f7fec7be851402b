import * as z from 'zod'
import { section } from './section.ts'

/** Settings of the sessions of coding agents. */
export const sessionsSection = section(() => ({
  send_paths: z
    .boolean()
    .default(false)
    .describe(
      'The hooks of coding agents also send the folder that a session works in. Its repository, branch and commits are sent without it.',
    ),
}))
