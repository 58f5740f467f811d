/** What a list of users can be narrowed by. Source: reference identity-and-import 10.1. */
export interface UserFilters {
  readonly username?: string;
  readonly search?: string;
  readonly active?: boolean;
  readonly blocked?: boolean;
  readonly external?: boolean;
  readonly humans?: boolean;
  readonly exclude_active?: boolean;
  readonly exclude_external?: boolean;
  readonly exclude_humans?: boolean;
  readonly exclude_internal?: boolean;
  readonly without_project_bots?: boolean;
  readonly created_after?: Date;
  readonly created_before?: Date;
  readonly extern_uid?: string;
  readonly provider?: string;
  readonly two_factor?: 'enabled' | 'disabled';
  readonly without_projects?: boolean;
  readonly admins?: boolean;
  readonly with_custom_attributes: boolean;
  readonly custom_attributes?: Readonly<Record<string, string>>;
  readonly order_by: 'id' | 'name' | 'username' | 'created_at' | 'updated_at';
  readonly sort: 'asc' | 'desc';
}
