import { Flag, IdOrPath, Int } from '@rookery/api-v4';

/** Source: reference identity-and-import 4.10. */
export class OneJobTokenScope {
  @IdOrPath({ in: 'path' }) id: number | string;
}

export class UpdateJobTokenScope extends OneJobTokenScope {
  @Flag({ about: 'False: the project admits the jobs of all projects.' }) enabled: boolean;
}

export class CreateAdmittedProject extends OneJobTokenScope {
  @Int({ about: 'Id of the project whose jobs are admitted.' }) target_project_id: number;
}

export class OneAdmittedProject extends OneJobTokenScope {
  @Int({ in: 'path' }) target_project_id: number;
}

export class CreateAdmittedGroup extends OneJobTokenScope {
  @Int({ about: 'Id of the group whose projects are admitted, subgroups included.' }) target_group_id: number;
}

export class OneAdmittedGroup extends OneJobTokenScope {
  @Int({ in: 'path', about: 'Id of the group.' }) target_group_id: number;
}
