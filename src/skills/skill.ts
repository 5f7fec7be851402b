import * as z from 'zod'

/** Largest front matter in bytes. A list reads so much of each SKILL.md. */
export const FRONT_MATTER_BYTES = 64 * 1024

const SkillSource = z.enum(['project', 'user', 'bundled', 'upstream'])

/** A skill: instructions for agents in a folder with a SKILL.md (agentskills.io). */
export const Skill = z.object({
  id: z.string().describe('Name of its folder; skills of the agent gateway begin with "upstream:".'),
  name: z.string(),
  description: z.string(),
  category: z.string().nullable().describe('From its front matter, or the name of its parent folder.'),
  tags: z.array(z.string()),
  version: z.string().nullable(),
  license: z.string().nullable(),
  compatibility: z.string().nullable().describe('Requirements of the skill.'),
  path: z
    .string()
    .nullable()
    .describe('Path of its SKILL.md, with "~" for the home folder; null on the agent gateway.'),
  source: SkillSource,
  installed: z.boolean(),
  enabled: z.boolean(),
  updated_at: z.string().nullable().describe('Time of its last change, RFC 3339, UTC.'),
  metadata: z.record(z.string(), z.unknown()).describe('Other fields of its front matter.'),
  warnings: z.array(z.string()).describe('Violations of the convention.'),
  error: z.string().nullable().describe('Reason why agents cannot use it.'),
})
export type Skill = z.infer<typeof Skill>

/** A skill with its instructions. */
export const SkillWithContent = Skill.extend({
  content: z.string().nullable().describe('Text after its front matter; null when unreadable.'),
})
export type SkillWithContent = z.infer<typeof SkillWithContent>

/** Filters of a list of skills. */
export const SkillQuery = z.object({
  category: z.string().max(256).optional().describe('Only this category.'),
  search: z
    .string()
    .max(1000)
    .optional()
    .describe('Only skills with all of these words in name, description, category or tags.'),
})
export type SkillQuery = z.infer<typeof SkillQuery>

/** A category and the number of its skills. */
export const SkillCategory = z.object({ name: z.string(), count: z.int() })
export type SkillCategory = z.infer<typeof SkillCategory>

/** Selects the skills of a query. */
export function matching<S extends Skill>(skills: readonly S[], { category, search }: SkillQuery): S[] {
  const words = (search ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  return skills.filter((skill) => {
    if (category !== undefined && skill.category !== category) return false
    const text = [skill.id, skill.name, skill.description, skill.category ?? '', ...skill.tags].join('\n').toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** Counts the skills of each category, by name; skills without a category do not count. */
export function categoriesOf(skills: readonly Skill[]): SkillCategory[] {
  const counts = new Map<string, number>()
  for (const { category } of skills) if (category !== null) counts.set(category, (counts.get(category) ?? 0) + 1)
  return [...counts].map(([name, count]) => ({ name, count })).sort((a, b) => (a.name < b.name ? -1 : 1))
}
