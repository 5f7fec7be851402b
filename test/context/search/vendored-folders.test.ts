import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { vendoredFolders } from '../../../src/context/search/vendored-folders.ts'

const PROJECT = ['CMakeLists.txt', 'LICENSE', 'src/main.c']

describe('vendored folders', () => {
  it('are those with build files and a licence of their own, in a project that has both', () => {
    for (const build of ['CMakeLists.txt', 'configure.ac', 'configure', 'Makefile.am', 'meson.build'])
      for (const licence of ['LICENSE', 'LICENCE.md', 'COPYING', 'License-MIT.txt'])
        assert.deepEqual(
          vendoredFolders([...PROJECT, `modules/zip/${build}`, `modules/zip/${licence}`, 'modules/zip/zip.c']),
          ['modules/zip/'],
          `${build}, ${licence}`,
        )
  })

  it('are not those with one of the two, packages of one project, or folders of a project without both', () => {
    const copy = ['modules/zip/CMakeLists.txt', 'modules/zip/LICENSE']
    for (const files of [
      [...PROJECT, 'modules/zip/CMakeLists.txt'],
      [...PROJECT, 'modules/zip/LICENSE', 'modules/zip/zip.c'],
      [...PROJECT, 'modules/zip/src/CMakeLists.txt', 'modules/zip/LICENSE'],
      [...PROJECT, 'packages/zip/package.json', 'packages/zip/LICENSE'],
      [...PROJECT, 'crates/zip/Cargo.toml', 'crates/zip/LICENSE'],
      ['CMakeLists.txt', ...copy],
      ['LICENSE', ...copy],
    ])
      assert.deepEqual(vendoredFolders(files), [], files.join(' '))
  })
})
