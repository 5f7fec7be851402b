import type { Projects } from './projects.ts'

/** Memories that are counted. */
const MAX_COUNTED = 1000

/**
 * Says which project a folder may belong to, and how a person decides that. Null when none with memories is proposed.
 */
export async function proposalNote(
  { of, memoriesOf }: Pick<Projects, 'of' | 'memoriesOf'>,
  folder: string,
): Promise<string | null> {
  const place = await of(folder)
  if (!place?.proposed) return null
  const count = await memoriesOf(place.proposed, MAX_COUNTED)
  if (count === 0) return null
  return (
    `This folder looks like another copy of the project ${place.proposed}, which has ${count} memories. None of them is ` +
    `read or changed here before a person runs in it: gazeway project trust`
  )
}
