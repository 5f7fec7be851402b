import { lazily } from '../../src/lazily.ts'
import type { OwnSkill } from './describe-skills.ts'

/** Gazeway's own skills in JSON. The build inlines them. */
declare const GAZEWAY_SKILLS: string | undefined

/** The build needs it no more. */
const loadDescription = lazily(() => import('./describe-skills.ts'))

/** Lists Gazeway's own skills. */
export async function ownSkills(): Promise<OwnSkill[]> {
  if (typeof GAZEWAY_SKILLS === 'string') return JSON.parse(GAZEWAY_SKILLS)
  const { describeSkills } = await loadDescription()
  return describeSkills()
}
