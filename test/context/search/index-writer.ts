import { writeIndexFile } from '../../../src/context/search/index-file.ts'
import { createSegmentBuilder } from '../../../src/context/search/segment-builder.ts'

/** Writes an index over and over, until it is killed. */

const [file = '', word = '', count = '1'] = process.argv.slice(2)
const builder = createSegmentBuilder()
for (let i = 0; i < Number(count); i++) builder.add({ path: `${i}.ts`, key: word }, `${word} ${i}x`)
const bytes = builder.finish('/x')
writeIndexFile(file, bytes)
process.stdout.write('written\n')
while (true) writeIndexFile(file, bytes)
