import type { Gateway } from '../src/gateway.ts'
import type { ToolContext } from './tool.ts'

/**
 * Returns the projects of the folders that the caller works in, as their memories name them. What it stores belongs to the
 * first. None over HTTP.
 */
export async function callerProjects(
  { projects }: Pick<Gateway, 'projects'>,
  { roots, projectRoot }: Pick<ToolContext, 'roots' | 'projectRoot'>,
): Promise<string[]> {
  const declared = await roots()
  const folder = declared.length > 0 ? null : await projectRoot()
  return projects.at(folder === null ? declared : [folder])
}
