import { projectOf } from '../src/memory/records/project.ts'
import type { ToolContext } from './tool.ts'

/** Returns the project that the caller works in, as its memories name it. Null over HTTP. */
export async function callerProject({ projectRoot }: Pick<ToolContext, 'projectRoot'>): Promise<string | null> {
  const root = await projectRoot()
  return root === null ? null : projectOf(root)
}
