import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { checkConfig } from '../../src/config/check-config.ts'
import type { SkillPlaces } from '../../src/skills/skill-roots.ts'
import { createSkills, type Skills } from '../../src/skills/skills.ts'

/** A home, a project and a data folder of their own, with the skills that are in them. */
export interface SkillFolders {
  skills: Skills
  folder: string
  /** Writes a file below the folder, which holds `home`, `project` and `data`. @returns where it is */
  write(path: string, text: string): string
  remove(): void
}

/**
 * @param config what the section `skills` of the configuration says
 * @param places what is otherwise: a user without a home folder, say
 */
export function skillFolders(config: Record<string, unknown> = {}, places: Partial<SkillPlaces> = {}): SkillFolders {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-skills-'))
  const filled = checkConfig({ skills: config }).data?.skills
  if (!filled) throw new Error('The configuration is not valid.')
  const [home, cwd, dataDir] = ['home', 'project', 'data'].map((name) => join(folder, name)) as [string, string, string]
  for (const path of [home, cwd, dataDir]) mkdirSync(path)
  return {
    skills: createSkills({ config: () => filled, home, cwd, dataDir, ...places }),
    folder,
    write(path, text) {
      const file = join(folder, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
      return file
    },
    remove: () => rmSync(folder, { recursive: true }),
  }
}

/** A SKILL.md. */
export function skillText(fields: Record<string, unknown>, content = 'Do it well.\n'): string {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
  return ['---', ...lines, '---', content].join('\n')
}
