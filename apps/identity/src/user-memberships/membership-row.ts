/** A direct membership, seen from the person. */
export interface MembershipRow {
  readonly source_id: number;
  readonly source_name: string;
  readonly source_type: 'namespace' | 'project';
  readonly access_level: number;
}
