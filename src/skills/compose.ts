import { isObject } from '../text/json.ts'
import type { FrontMatter } from './front-matter.ts'
import type { Skill } from './skill.ts'

/** Limits of the convention in characters. Source: https://agentskills.io/specification */
const LONGEST_NAME = 64
const LONGEST_DESCRIPTION = 1024
const LONGEST_COMPATIBILITY = 500
const CONVENTIONAL_NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

/** Front matter fields with a field in `Skill`. */
const OWN_FIELDS = new Set([
  'name',
  'description',
  'category',
  'tags',
  'version',
  'license',
  'compatibility',
  'metadata',
])

/** Properties of a skill that are not in its front matter. */
export type SkillPlace = Pick<Skill, 'id' | 'path' | 'source' | 'updated_at'> & {
  /** Parent folder of the skill's; null at the root. */
  above: string | null
}

/** Builds a skill from its SKILL.md, with a warning for each violation of the convention. */
export function composeSkill(
  { above, ...place }: SkillPlace,
  { data, written }: Pick<FrontMatter, 'data' | 'written'>,
): Skill {
  const { metadata, ...rest } = data
  const nested = isObject(written.metadata) ? written.metadata : {}
  // An agent's own fields are nested under its name: metadata.hermes.tags
  const deeper = Object.values(nested).filter(isObject)
  const field = (name: string) => [written, nested, ...deeper].map((fields) => fields[name]).find(isSaid)
  const name = textOf(written.name)
  const description = textOf(written.description)
  const others = Object.entries(rest).filter(([key]) => !OWN_FIELDS.has(key))
  const compatibility = textOf(written.compatibility)
  return {
    ...place,
    name: name ?? place.id,
    description: description ?? '',
    category: textOf(field('category')) ?? above,
    tags: tagsOf(field('tags')),
    version: textOf(field('version')),
    license: textOf(written.license),
    compatibility,
    installed: true,
    enabled: true,
    metadata: { ...Object.fromEntries(others), ...(isObject(metadata) && metadata) },
    warnings: [
      ...nameWarnings(name, place.id),
      ...tooLong('description', description, LONGEST_DESCRIPTION),
      ...tooLong('compatibility', compatibility, LONGEST_COMPATIBILITY),
    ],
    error: description === null ? 'It has no description, which agents need to choose it.' : null,
  }
}

/** Builds a skill whose SKILL.md could not be parsed. */
export function brokenSkill(place: SkillPlace, error: string): Skill {
  return { ...composeSkill(place, { data: {}, written: { name: place.id } }), warnings: [], error }
}

function nameWarnings(name: string | null, folder: string): string[] {
  if (name === null) return ['It has no name; the name of its folder is used.']
  const warnings = []
  if (name.length > LONGEST_NAME || !CONVENTIONAL_NAME.test(name))
    warnings.push(
      `The name is not 1 to ${LONGEST_NAME} lowercase letters, digits and single hyphens, as the specification requires.`,
    )
  if (name !== folder) warnings.push('The name differs from that of its folder.')
  return warnings
}

/** Counts code points, as the convention does, not UTF-16 units. */
function tooLong(field: string, text: string | null, most: number): string[] {
  return text !== null && [...text].length > most ? [`The ${field} is longer than ${most} characters.`] : []
}

function tagsOf(value: unknown): string[] {
  const list = typeof value === 'string' ? value.split(',') : value
  if (!Array.isArray(list)) return []
  return [...new Set(list.map(textOf).filter((tag) => tag !== null))]
}

/** Trims a text; null when empty. */
function textOf(value: unknown): string | null {
  if (typeof value !== 'string') return null
  const text = value.trim()
  return text === '' ? null : text
}

const isSaid = (value: unknown): boolean => value !== undefined && value !== null && value !== ''
