import { readdirSync, readFileSync } from 'node:fs'
import { type Skill, skillEntry } from '@modelcontextprotocol/server/ext/skills'

/** Folder of the skills that the plugin has as well. */
const FOLDER = new URL('../../plugin/skills/', import.meta.url)

/** A skill as clients list it, and the text of its one file. */
export interface OwnSkill {
  skill: Skill
  text: string
}

/** Describes Gazeway's own skills for `skills/list`. */
export const describeSkills = (): Promise<OwnSkill[]> =>
  Promise.all(
    readdirSync(FOLDER).map(async (name) => {
      const text = readFileSync(new URL(`${name}/SKILL.md`, FOLDER), 'utf8')
      return { skill: await skillEntry(name, { 'SKILL.md': text }), text }
    }),
  )
