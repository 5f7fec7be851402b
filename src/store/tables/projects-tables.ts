/**
 * A folder in which a project was seen, and the evidence by which the project is recognized elsewhere. `stamp` is the
 * state of its `.git` when the evidence was read.
 */
export interface ProjectPlaceRow {
  /** Real path of the folder. */
  path: string
  /** Name of the project, as its memories have it. */
  project: string
  /** Another project that the folder may belong to, until a person trusts it. */
  proposed: string | null
  /** Git's common directory. */
  common_dir: string | null
  root_commit: string | null
  remote: string | null
  /** Id in `.gazeway/project`. */
  file_id: string | null
  /** The checkout that it is a submodule of. */
  parent: string | null
  stamp: string
}

export interface ProjectTables {
  project_places: ProjectPlaceRow
}
