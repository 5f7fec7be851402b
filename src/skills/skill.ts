import { z } from 'zod'

/** The most that a front matter may take, in bytes: as much is read of each SKILL.md for a list. */
export const FRONT_MATTER_BYTES = 64 * 1024

/** Where a skill comes from. */
const SkillSource = z.enum(['project', 'user', 'bundled', 'upstream'])

/** A skill: instructions for agents in a folder with a SKILL.md (agentskills.io). */
export const Skill = z.object({
  id: z.string().describe('The name of its folder; those of the agent gateway begin with "upstream:".'),
  name: z.string(),
  description: z.string(),
  category: z.string().nullable().describe('As its front matter says, or the folder above its own.'),
  tags: z.array(z.string()),
  version: z.string().nullable(),
  license: z.string().nullable(),
  compatibility: z.string().nullable().describe('What it needs to work.'),
  path: z.string().nullable().describe('Its SKILL.md, the home folder as "~"; null on the agent gateway.'),
  source: SkillSource,
  installed: z.boolean(),
  enabled: z.boolean(),
  updated_at: z.string().nullable().describe('When its SKILL.md was changed, RFC 3339, UTC.'),
  metadata: z.record(z.string(), z.unknown()).describe('What else its front matter says.'),
  warnings: z.array(z.string()).describe('How it breaks the convention.'),
  error: z.string().nullable().describe('Why agents cannot use it.'),
})
export type Skill = z.infer<typeof Skill>

/** A skill with its instructions. */
export const SkillWithContent = Skill.extend({
  content: z.string().nullable().describe('What follows its front matter; null where it cannot be read.'),
})
export type SkillWithContent = z.infer<typeof SkillWithContent>

/** Which skills to list. */
export const SkillQuery = z.object({
  category: z.string().max(256).optional().describe('Only this category.'),
  search: z
    .string()
    .max(1000)
    .optional()
    .describe('Only skills with all of these words in their name, description, category or tags.'),
})
export type SkillQuery = z.infer<typeof SkillQuery>

/** How many skills a category has. */
export const SkillCategory = z.object({ name: z.string(), count: z.int() })
export type SkillCategory = z.infer<typeof SkillCategory>

/** The skills that a query asks for. */
export function matching<S extends Skill>(skills: readonly S[], { category, search }: SkillQuery): S[] {
  const words = (search ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  return skills.filter((skill) => {
    if (category !== undefined && skill.category !== category) return false
    const text = [skill.id, skill.name, skill.description, skill.category ?? '', ...skill.tags].join('\n').toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** The categories of skills, by name; those without one are not counted. */
export function categoriesOf(skills: readonly Skill[]): SkillCategory[] {
  const counts = new Map<string, number>()
  for (const { category } of skills) if (category !== null) counts.set(category, (counts.get(category) ?? 0) + 1)
  return [...counts].map(([name, count]) => ({ name, count })).sort((a, b) => (a.name < b.name ? -1 : 1))
}
