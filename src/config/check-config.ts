import type * as z from 'zod'
import { isObject } from '../text/json.ts'
import { DEFAULTS } from './config-keys.ts'
import { Config, SECTION_NAMES, SECTIONS, type SectionName } from './config-schema.ts'

/**
 * Validates a document and applies the defaults. Builds the schemas of the sections that the document holds, and those of
 * all when it has a fault. Uncompiled: compiling the checks costs more than these few runs.
 */
export function checkConfig(document: unknown): z.ZodSafeParseResult<Config> {
  const data = sectionwise(document)
  return data ? { success: true, data } : Config.safeParse(document, { jitless: true })
}

/** The configuration from a document without fault; undefined for another one. */
function sectionwise(document: unknown): Config | undefined {
  if (!isObject(document)) return undefined
  const config = structuredClone(DEFAULTS)
  for (const [name, value] of Object.entries(document)) {
    const checked = isSection(name) ? SECTIONS[name]().safeParse(value, { jitless: true }) : undefined
    if (!checked?.success) return undefined
    Object.assign(config, { [name]: checked.data })
  }
  return config
}

const isSection = (name: string): name is SectionName => SECTION_NAMES.includes(name as SectionName)
