-- pypi_digest_of_project: $1 project, $2 name
select
  count(*)::int as files,
  md5(
    coalesce(
      string_agg(
        f.id || coalesce('y' || m.yanked, ''),
        ','
        order by
          f.id
      ),
      ''
    )
  ) as digest
from
  (
    select
      :project::bigint as id
  ) scope
  join packages p on p.project_id = scope.id
  and p.package_type = 'pypi'
  and p.name_key = :name
  and p.status in ('default', 'hidden', 'deprecated')
  join package_files f on f.package_id = p.id
  and not f.is_pending_destruction
  left join pypi_files m on m.file_id = f.id
