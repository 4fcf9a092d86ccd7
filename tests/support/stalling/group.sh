# The program shares a control group of 40 MiB with a copy.
mkdir /group; mount -t cgroup2 none /group
echo "+memory +io" > /group/cgroup.subtree_control; mkdir /group/both; echo 40M > /group/both/memory.max
/stalling write /mnt/own > /tmp/kept/own.txt & program=$!
echo $program > /group/both/cgroup.procs
sh /recorder.sh --pid $program --over 300ms --out /tmp/kept & recorder=$!
sleep 5
dd if=/dev/zero of=/mnt/copy bs=1M count=200 & copy=$!
echo $copy > /group/both/cgroup.procs
wait $recorder
kill $program
