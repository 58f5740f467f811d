import { Int, Text } from '@rookery/api-v4';

/** Parameters of an attribute of a group or project, whose id or path comes from `within` of the endpoint. */
export class IdentifyAttribute {
  @Text() key: string;
}
export class UpdateAttribute extends IdentifyAttribute {
  @Text() value: string;
}

/** Parameters of the attributes of a user, who is identified by the numeric id only. */
export class ListUserAttributes {
  @Int() id: number;
}
export class IdentifyUserAttribute extends ListUserAttributes {
  @Text() key: string;
}
export class UpdateUserAttribute extends IdentifyUserAttribute {
  @Text() value: string;
}
