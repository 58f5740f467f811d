-- nuget_versions_of_names_of_project: $1 names, $2 project, $3 prerelease
select
  found.*
from
  unnest(:names::text[]) as asked (name),
  lateral (
    select
      p.id as package_id,
      v.name_key,
      p.version,
      v.version_key
    from
      (
        select
          :project::bigint as id
      ) scope
      join nuget_versions v on v.project_id = scope.id
      and v.name_key = asked.name
      and (
        :prerelease::boolean
        or not v.is_prerelease
      )
      join packages p on p.id = v.package_id
      and p.status in ('default', 'hidden', 'deprecated')
    order by
      p.id desc
    limit
      300
  ) found
