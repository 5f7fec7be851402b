import { isAbsolute } from 'node:path'
import * as z from 'zod'
import { lazySchema, section } from './section.ts'

/** A path below a folder, which cannot leave it. */
const folderBelow = lazySchema(() =>
  z
    .string()
    .regex(/^(?!\.{1,2}(?:\/|$))[^/\\\0]+(?:\/(?!\.{1,2}(?:\/|$))[^/\\\0]+)*$/)
    .max(512)
    .meta({ accepted: 'a relative path with forward slashes and without "..", such as .claude/skills' }),
)

/** Folders that are searched for skills. */
export const skillsSection = section(() => ({
  user_folders: z
    .array(folderBelow())
    .max(50)
    .default([
      '.hermes/skills',
      '.agents/skills',
      '.claude/skills',
      '.codex/skills',
      '.cursor/skills',
      '.gemini/skills',
    ])
    .describe(
      "Folders in the user's home folder that hold skills; of skills with one name, the first one's is listed.",
    ),
  project: z
    .string()
    .regex(/^\P{Cc}{1,4096}$/u)
    .refine(isAbsolute, 'not absolute')
    .nullable()
    .default(null)
    .meta({
      description: 'Project whose skills precede those of the user. Unset: the folder of the process.',
      accepted: 'the absolute path of a folder, or null',
    }),
  project_folders: z
    .array(folderBelow())
    .max(50)
    .default(['.hermes/skills', '.agents/skills', '.claude/skills'])
    .describe('Folders in the project that hold skills.'),
  disabled: z
    .array(z.string().min(1).max(256))
    .max(1000)
    .default([])
    .describe('Ids of skills that are listed as not enabled.'),
}))
