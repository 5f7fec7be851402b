import { isAbsolute } from 'node:path'
import * as z from 'zod'
import { section } from './section.ts'

/** Folders available to the work context. */
export const contextSection = section(() => ({
  roots: z
    .array(
      z
        .string()
        .regex(/^\P{Cc}{1,4096}$/u)
        .refine(isAbsolute, 'not absolute')
        .meta({ accepted: 'the absolute path of a folder' }),
    )
    .max(100)
    .default([])
    .describe(
      'Folders that the `root` of a tool may lie in where the client declares no roots. Empty: the working directory, ' +
        'and git repositories below the home folder.',
    ),
}))
