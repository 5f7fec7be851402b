import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { LiveSegment } from '../../src/context/search/rank.ts'
import { searchedText } from '../../src/context/search/searched-text.ts'
import { openSegment } from '../../src/context/search/segment.ts'
import { createSegmentBuilder } from '../../src/context/search/segment-builder.ts'

/** The regular files below a folder, relative to it. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
}

/** The texts below a folder that are searched, by path. */
export function textsBelow(folder: string): Map<string, string> {
  return new Map(
    filesBelow(folder).flatMap((path) => {
      const { text } = searchedText(folder, path)
      return text === null ? [] : [[path, text] as const]
    }),
  )
}

/** An index of a folder, all of its files searched. */
export function indexOf(folder: string): LiveSegment {
  const builder = createSegmentBuilder()
  for (const path of filesBelow(folder)) {
    const { text, ...marks } = searchedText(folder, path)
    builder.add({ path, key: '', ...marks }, text)
  }
  const segment = openSegment(builder.finish(folder))
  if (segment === null) throw new Error('The builder made no index.')
  return { segment, alive: new Uint8Array(segment.files.length).fill(1) }
}
