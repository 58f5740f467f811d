/** A group invited to a group or project, as the statements of this room read it. */
export interface ShareRow {
  readonly id: number;
  readonly source_type: 'namespace' | 'project';
  readonly source_id: number;
  readonly group_id: number;
  readonly access_level: number;
  readonly expires_on: string | null;
  readonly updated_at: Date;
}

/** What is given to the members of an invited group: at most this level, until this day. */
export interface ShareGrant {
  readonly group_access: number;
  readonly expires_at?: string | null;
}

/** The group or project that is shared, in the terms of the tables. */
export interface ShareSource {
  readonly type: 'namespace' | 'project';
  readonly id: number;
  /** The group itself, or the namespace of the project. */
  readonly namespaceId: number;
  /** Level of the caller. */
  readonly level: number;
}
