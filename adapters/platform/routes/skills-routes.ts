import * as z from 'zod'
import type { Remote } from '../../../src/agent-gateway/agent-gateway.ts'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import {
  categoriesOf,
  matching,
  Skill,
  SkillCategory,
  SkillQuery,
  SkillWithContent,
} from '../../../src/skills/skill.ts'
import { defineRoute, type Route } from '../define-route.ts'

/** Id that `/api/skills/{id}` cannot serve, because it is the path of the categories. */
const CATEGORIES = 'categories'
const HIDDEN = `The skill in the folder "${CATEGORIES}" cannot be read over HTTP: its path is that of the list of categories. Rename the folder.`

const warnings = z.array(z.string()).describe('What is missing here, and why.')
const upstream_error = z.string().nullable().describe('Why the skills of the agent gateway are missing.')

const SkillList = z.object({
  items: z.array(Skill),
  skills: z.array(Skill).describe('Same as `items`.'),
  total: z.int(),
  warnings,
  upstream_error,
})
export type SkillList = z.infer<typeof SkillList>

const SkillCategories = z.object({
  items: z.array(SkillCategory),
  categories: z.array(SkillCategory).describe('Same as `items`.'),
  total: z.int(),
  warnings,
  upstream_error,
})
export type SkillCategories = z.infer<typeof SkillCategories>

/** Routes of the skills on this machine, together with those of the agent gateway. */
export function skillRoutes({ skills }: Pick<Gateway, 'skills'>, remote: Remote): Route[] {
  async function list(query: SkillQuery) {
    const [own, theirs] = await Promise.all([skills.list(query), remote.newest('skills')])
    const items = [...own.items, ...matching(theirs.value, query)]
    const hidden = own.items.some(({ id }) => id === CATEGORIES) ? [HIDDEN] : []
    return { items, warnings: [...own.warnings, ...hidden], upstream_error: theirs.error }
  }

  return [
    defineRoute('GET /api/skills', {
      operation: 'listSkills',
      summary: 'List skills by name',
      description:
        'Lists the skills of the project, the user and the data folder as they are on disk now, then those of the ' +
        'agent gateway.',
      access: 'platform',
      query: SkillQuery.strict(),
      reply: SkillList,
      async run({ query }) {
        const { items, ...rest } = await list(query)
        return { items, skills: items, total: items.length, ...rest }
      },
    }),
    defineRoute(`GET /api/skills/${CATEGORIES}`, {
      operation: 'listSkillCategories',
      summary: 'List skill categories by name',
      access: 'platform',
      reply: SkillCategories,
      async run() {
        const { items, ...rest } = await list({})
        const categories = categoriesOf(items)
        return { items: categories, categories, total: categories.length, ...rest }
      },
    }),
    defineRoute('GET /api/skills/{id}', {
      operation: 'getSkill',
      summary: 'Retrieve a skill with its instructions',
      description: 'The agent gateway does not provide the instructions of its own skills.',
      access: 'platform',
      params: z.strictObject({ id: z.string().min(1).max(512) }),
      reply: SkillWithContent,
      async run({ params: { id } }) {
        if (remote.idOf(id) === null) return skills.get(id)
        const { value, error } = await remote.newest('skills')
        const found = value.find((skill) => skill.id === id)
        if (found) return { ...found, content: null }
        if (error !== null) throw new GazewayError('upstream_error', error)
        throw new GazewayError('not_found', 'There is no skill with this id.', { param: 'id' })
      },
    }),
  ]
}
