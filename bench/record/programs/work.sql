-- SPDX-License-Identifier: Apache-2.0
create table item(id integer primary key, name text, kind int, price real);
create table sale(id integer primary key, item int, day int, amount int);
create index sale_item on sale(item);
create index sale_day on sale(day);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000)
  insert into item select i, 'item-' || (i * 7919 % 3001), i % 37, (i * 31 % 1000) / 10.0 from n;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 40000)
  insert into sale select i, 1 + i * 7907 % 3000, i * 13 % 365, 1 + i % 9 from n;
select count(*), sum(amount * price) from sale join item on item.id = sale.item where kind < 20;
select kind, count(*), round(avg(price), 3) from item group by kind order by 2 desc, 1 limit 5;
select day, sum(amount) as s from sale group by day having s > 100 order by s desc, day limit 5;
select count(*) from item where name like '%9%1%';
select count(*) from sale s where exists (select 1 from item i where i.id = s.item and i.price > 50);
update item set price = price * 1.1 where kind in (1, 3, 5, 7);
delete from sale where day between 100 and 120;
with recursive f(a, b, k) as (select 0, 1, 0 union all select b, a + b, k + 1 from f where k < 60)
  select max(a) from f;
select group_concat(name, ',') from (select name from item order by price desc, id limit 5);
select count(distinct substr(name, 6, 2)), max(length(name)) from item;
select i.name, sum(s.amount) as t from item i left join sale s on s.item = i.id group by i.id
  order by t desc, i.id limit 5;
